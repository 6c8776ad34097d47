/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment and the command of a container: values from fields, ConfigMaps and Secrets; $(NAME) stands for what
 * the container's environment says. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/runner/runner.h"
#include "mpijob/schema/schema.h"

/* What a pod of image `host` has from the one who called mpijob. */
static const char *const passed[] = {"HOME", "USER", "LOGNAME",         "SHELL",      "LANG",        "LC_ALL",
                                     "TZ",   "TERM", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", NULL};

static struct mur_node *expand(const char *text, const struct mur_node *environment)
{
    char *result = NULL;
    size_t length;
    FILE *file = open_memstream(&result, &length);
    struct mur_node *node;

    while (*text) {
        const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
        char *name = end ? mur_alloc_text("%.*s", (int)(end - text - 2), text + 2) : NULL;
        const struct mur_node *value = name ? mur_node_get(environment, name) : NULL;

        if (value) {
            fputs(value->text, file);
            text = end + 1;
        } else {
            if (text[0] == '$' && text[1] == '$') /* $$(NAME) is $(NAME) */
                text++;
            fputc(*text++, file);
        }
        free(name);
    }
    fclose(file);
    node = mur_node_text("%s", result);
    free(result);
    return node;
}

/* metadata.labels['name'], or a path in the pod. */
static struct mur_node *field_value(const struct mur_runner *runner, const struct mur_pod *pod,
                                    const struct mur_node *object, const char *path)
{
    const char *open = strchr(path, '['), *own;
    char name[64], address[32];

    if (strcmp(path, "spec.nodeName") == 0) {
        gethostname(name, sizeof name);
        return mur_node_text("%s", name);
    }
    if (strcmp(path, "status.podIP") == 0 || strcmp(path, "status.podIPs") == 0 || strcmp(path, "status.hostIP") == 0) {
        bool is_own = strncmp(path, "status.pod", 10) == 0 && runner->bridge && !pod->uses_host_network;

        snprintf(address, sizeof address, "10.244.%d.%d", pod->address / 250, pod->address % 250 + 2);
        return mur_node_text("%s", is_own ? address : runner->bridge ? "10.244.0.1" : "127.0.0.1");
    }
    if (strcmp(path, "spec.serviceAccountName") == 0)
        return mur_node_text("%s", mur_node_string(object, path, "default"));
    if (open && (open[1] == '\'' || open[1] == '"')) {
        char *map = mur_alloc_text("%.*s", (int)(open - path), path);
        char *key = mur_alloc_text("%.*s", (int)strcspn(open + 2, "'\""), open + 2);
        const struct mur_node *value = mur_node_get(mur_node_at(object, map), key);

        free(map);
        free(key);
        return mur_node_text("%s", value ? value->text : "");
    }
    own = mur_node_string(object, path, NULL);
    return own ? mur_node_text("%s", own) : NULL;
}

/* A limit that is not set is what the machine has. */
static struct mur_node *resource_value(const struct mur_node *container, const struct mur_node *source)
{
    const char *resource = mur_node_string(source, "resource", ""), *name = strchr(resource, '.');
    char *path = mur_alloc_text("resources.%s", resource);
    const char *text = mur_node_string(container, path, NULL);
    double divisor = mur_quantity(mur_node_string(source, "divisor", "1")), value, shares;

    free(path);
    if (!name)
        return NULL;
    if (text)
        value = mur_quantity(text);
    else if (strcmp(name, ".cpu") == 0)
        value = (double)sysconf(_SC_NPROCESSORS_ONLN);
    else if (strcmp(name, ".memory") == 0)
        value = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    else
        return NULL;
    shares = value / (divisor > 0 ? divisor : 1);
    return mur_node_text("%lld", (long long)shares + ((double)(long long)shares < shares)); /* rounded up */
}

static struct mur_node *value_of(const struct mur_node *object, const char *key)
{
    size_t length;
    char *text = mur_value_of(object, key, &length);
    struct mur_node *value = text ? mur_node_text("%.*s", (int)length, text) : NULL;

    free(text);
    return value;
}

static struct mur_node *key_value(const struct mur_runner *runner, const struct mur_node *source, const char *kind)
{
    return value_of(mur_store_find(runner->store, kind, mur_node_string(source, "name", "")),
                    mur_node_string(source, "key", ""));
}

static struct mur_node *value_from(const struct mur_runner *runner, const struct mur_pod *pod,
                                   const struct mur_node *object, const struct mur_node *container,
                                   const struct mur_node *source)
{
    const struct mur_node *field = mur_node_get(source, "fieldRef"), *config = mur_node_get(source, "configMapKeyRef");
    const struct mur_node *resource = mur_node_get(source, "resourceFieldRef");

    if (field)
        return field_value(runner, pod, object, mur_node_string(field, "fieldPath", ""));
    if (resource)
        return resource_value(container, resource);
    if (config)
        return key_value(runner, config, "ConfigMap");
    return key_value(runner, mur_node_get(source, "secretKeyRef"), "Secret");
}

static bool is_optional(const struct mur_node *source)
{
    return mur_node_true(source, "configMapKeyRef.optional") || mur_node_true(source, "secretKeyRef.optional");
}

static int add_all_of(const struct mur_runner *runner, struct mur_node *environment, const struct mur_node *from,
                      char **why)
{
    static const char *const parts[] = {"data", "stringData"};
    const struct mur_node *config = mur_node_get(from, "configMapRef"), *secret = mur_node_get(from, "secretRef");
    const struct mur_node *source = config ? config : secret;
    const char *name = mur_node_string(source, "name", "");
    const struct mur_node *object = mur_store_find(runner->store, config ? "ConfigMap" : "Secret", name);

    if (!object && !mur_node_true(source, "optional")) {
        *why = mur_alloc_text("%s \"%s\" not found: put it into the file", config ? "configmap" : "secret", name);
        return -1;
    }
    for (int part = 0; part < 2; part++) {
        const struct mur_node *values = mur_node_get(object, parts[part]);

        for (int i = 0; i < mur_node_count(values); i++) {
            char *full = mur_alloc_text("%s%s", mur_node_string(from, "prefix", ""), values->members[i].name);

            mur_node_put(environment, full, value_of(object, values->members[i].name));
            free(full);
        }
    }
    return 0;
}

static int add_entries(struct mur_runner *runner, struct mur_pod *pod, const struct mur_node *object,
                       struct mur_node *environment, char **why)
{
    const struct mur_node *container = mur_node_at(object, "spec.containers")->members[0].value;
    const struct mur_node *from = mur_node_get(container, "envFrom"), *entries = mur_node_get(container, "env");

    for (int i = 0; i < mur_node_count(from); i++)
        if (add_all_of(runner, environment, from->members[i].value, why) < 0)
            return -1;
    for (int i = 0; i < mur_node_count(entries); i++) {
        const struct mur_node *entry = entries->members[i].value, *source = mur_node_get(entry, "valueFrom");
        const char *name = mur_node_string(entry, "name", "");
        struct mur_node *value = source ? value_from(runner, pod, object, container, source)
                                        : expand(mur_node_string(entry, "value", ""), environment);

        if (value) {
            mur_node_put(environment, name, value);
        } else if (!is_optional(source)) {
            *why = mur_alloc_text("env %s: what valueFrom names is not there", name);
            return -1;
        }
    }
    return 0;
}

/* The machine's pods find this Murmur's mpirun first; those of other images have the path of images. */
static void add_basics(const struct mur_runner *runner, const struct mur_pod *pod, struct mur_node *environment)
{
    const char *path = getenv("PATH");

    mur_node_put(environment, "HOSTNAME", mur_node_text("%s", pod->hostname));
    if (pod->image) {
        mur_node_put(environment, "PATH",
                     mur_node_text("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
        mur_node_put(environment, "HOME", mur_node_text("/root"));
        return;
    }
    mur_node_put(environment, "PATH", mur_node_text("%s:%s", runner->program_folder, path ? path : "/usr/bin:/bin"));
    for (int i = 0; passed[i]; i++)
        if (getenv(passed[i]))
            mur_node_put(environment, passed[i], mur_node_text("%s", getenv(passed[i])));
}

/* Without mounts, paths of volumes are where the volumes lie. */
static void replace_paths(const struct mur_pod *pod, struct mur_node *environment)
{
    for (int i = 0; i < environment->count; i++)
        for (int j = 0; j < pod->mount_count; j++) {
            const char *text = environment->members[i].value->text;
            size_t length = strlen(pod->mounts[j].target);

            if (strncmp(text, pod->mounts[j].target, length) == 0 && (text[length] == '/' || text[length] == '\0')) {
                struct mur_node *moved = mur_node_text("%s%s", pod->mounts[j].source, text + length);

                mur_node_free(environment->members[i].value);
                environment->members[i].value = moved;
                break;
            }
        }
}

static void make_command(struct mur_pod *pod, const struct mur_node *container, const struct mur_node *environment)
{
    const struct mur_node *parts[] = {mur_node_get(container, "command"), mur_node_get(container, "args")};
    int count = 0;

    pod->command = mur_alloc((size_t)(mur_node_count(parts[0]) + mur_node_count(parts[1])) + 1, sizeof *pod->command);
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < mur_node_count(parts[part]); i++) {
            struct mur_node *word = expand(parts[part]->members[i].value->text, environment);

            pod->command[count++] = mur_alloc_text("%s", word->text);
            mur_node_free(word);
        }
}

int mur_environment_make(struct mur_runner *runner, struct mur_pod *pod, const struct mur_node *object, char **why)
{
    const struct mur_node *container = mur_node_at(object, "spec.containers")->members[0].value;
    struct mur_node *environment = mur_node_new(MUR_MAP);

    add_basics(runner, pod, environment);
    if (add_entries(runner, pod, object, environment, why) < 0) {
        mur_node_free(environment);
        return -1;
    }
    make_command(pod, container, environment);
    if (!pod->command[0])
        *why = mur_alloc_text("the container has neither command nor args, and an image that is a directory has none");
    if (!runner->isolates)
        replace_paths(pod, environment);
    pod->environment = mur_alloc((size_t)environment->count + 1, sizeof *pod->environment);
    for (int i = 0; i < environment->count; i++)
        pod->environment[i] =
            mur_alloc_text("%s=%s", environment->members[i].name, environment->members[i].value->text);
    if (mur_node_get(container, "workingDir"))
        pod->directory = mur_alloc_text("%s", mur_node_string(container, "workingDir", "/"));
    else
        pod->directory = pod->image ? mur_alloc_text("/") : NULL;
    mur_node_free(environment);
    return *why ? -1 : 0;
}
