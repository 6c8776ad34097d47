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

static struct mur_value *expand(const char *text, const struct mur_value *environment)
{
    char *result = NULL;
    size_t length;
    FILE *file = open_memstream(&result, &length);
    struct mur_value *node;

    while (*text) {
        const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
        char *name = end ? mur_alloc_text("%.*s", (int)(end - text - 2), text + 2) : NULL;
        const struct mur_value *value = name ? mur_value_get(environment, name) : NULL;

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
    node = mur_value_text("%s", result);
    free(result);
    return node;
}

/* metadata.labels['name'], or a path in the pod. */
static struct mur_value *field_value(const struct mur_runner *runner, const struct mur_pod *pod,
                                     const struct mur_value *object, const char *path)
{
    const char *open = strchr(path, '['), *own;
    char name[64], address[32];

    if (strcmp(path, "spec.nodeName") == 0) {
        gethostname(name, sizeof name);
        return mur_value_text("%s", name);
    }
    if (strcmp(path, "status.podIP") == 0 || strcmp(path, "status.podIPs") == 0 || strcmp(path, "status.hostIP") == 0) {
        bool is_own = strncmp(path, "status.pod", 10) == 0 && runner->bridge && !pod->uses_host_network;

        snprintf(address, sizeof address, "10.244.%d.%d", pod->address / 250, pod->address % 250 + 2);
        return mur_value_text("%s", is_own ? address : runner->bridge ? "10.244.0.1" : "127.0.0.1");
    }
    if (strcmp(path, "spec.serviceAccountName") == 0)
        return mur_value_text("%s", mur_value_string(object, path, "default"));
    if (open && (open[1] == '\'' || open[1] == '"')) {
        char *map = mur_alloc_text("%.*s", (int)(open - path), path);
        char *key = mur_alloc_text("%.*s", (int)strcspn(open + 2, "'\""), open + 2);
        const struct mur_value *value = mur_value_get(mur_value_at(object, map), key);

        free(map);
        free(key);
        return mur_value_text("%s", value ? value->text : "");
    }
    own = mur_value_string(object, path, NULL);
    return own ? mur_value_text("%s", own) : NULL;
}

/* A limit that is not set is what the machine has. */
static struct mur_value *resource_value(const struct mur_value *container, const struct mur_value *source)
{
    const char *resource = mur_value_string(source, "resource", ""), *name = strchr(resource, '.');
    char *path = mur_alloc_text("resources.%s", resource);
    const char *text = mur_value_string(container, path, NULL);
    double divisor = mur_quantity(mur_value_string(source, "divisor", "1")), value, shares;

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
    return mur_value_text("%lld", (long long)shares + ((double)(long long)shares < shares)); /* rounded up */
}

static struct mur_value *value_of(const struct mur_value *object, const char *key)
{
    size_t length;
    char *text = mur_value_of(object, key, &length);
    struct mur_value *value = text ? mur_value_text("%.*s", (int)length, text) : NULL;

    free(text);
    return value;
}

static struct mur_value *key_value(const struct mur_runner *runner, const struct mur_value *source, const char *kind)
{
    return value_of(mur_store_find(runner->store, kind, mur_value_string(source, "name", "")),
                    mur_value_string(source, "key", ""));
}

static struct mur_value *value_from(const struct mur_runner *runner, const struct mur_pod *pod,
                                    const struct mur_value *object, const struct mur_value *container,
                                    const struct mur_value *source)
{
    const struct mur_value *field = mur_value_get(source, "fieldRef"),
                           *config = mur_value_get(source, "configMapKeyRef");
    const struct mur_value *resource = mur_value_get(source, "resourceFieldRef");

    if (field)
        return field_value(runner, pod, object, mur_value_string(field, "fieldPath", ""));
    if (resource)
        return resource_value(container, resource);
    if (config)
        return key_value(runner, config, "ConfigMap");
    return key_value(runner, mur_value_get(source, "secretKeyRef"), "Secret");
}

static bool is_optional(const struct mur_value *source)
{
    return mur_value_true(source, "configMapKeyRef.optional") || mur_value_true(source, "secretKeyRef.optional");
}

static int add_all_of(const struct mur_runner *runner, struct mur_value *environment, const struct mur_value *from,
                      char **why)
{
    static const char *const parts[] = {"data", "stringData"};
    const struct mur_value *config = mur_value_get(from, "configMapRef"), *secret = mur_value_get(from, "secretRef");
    const struct mur_value *source = config ? config : secret;
    const char *name = mur_value_string(source, "name", "");
    const struct mur_value *object = mur_store_find(runner->store, config ? "ConfigMap" : "Secret", name);

    if (!object && !mur_value_true(source, "optional")) {
        *why = mur_alloc_text("%s \"%s\" not found: put it into the file", config ? "configmap" : "secret", name);
        return -1;
    }
    for (int part = 0; part < 2; part++) {
        const struct mur_value *values = mur_value_get(object, parts[part]);

        for (int i = 0; i < mur_value_count(values); i++) {
            char *full = mur_alloc_text("%s%s", mur_value_string(from, "prefix", ""), values->members[i].name);

            mur_value_put(environment, full, value_of(object, values->members[i].name));
            free(full);
        }
    }
    return 0;
}

static int add_entries(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object,
                       struct mur_value *environment, char **why)
{
    const struct mur_value *container = mur_value_at(object, "spec.containers")->members[0].value;
    const struct mur_value *from = mur_value_get(container, "envFrom"), *entries = mur_value_get(container, "env");

    for (int i = 0; i < mur_value_count(from); i++)
        if (add_all_of(runner, environment, from->members[i].value, why) < 0)
            return -1;
    for (int i = 0; i < mur_value_count(entries); i++) {
        const struct mur_value *entry = entries->members[i].value, *source = mur_value_get(entry, "valueFrom");
        const char *name = mur_value_string(entry, "name", "");
        struct mur_value *value = source ? value_from(runner, pod, object, container, source)
                                         : expand(mur_value_string(entry, "value", ""), environment);

        if (value) {
            mur_value_put(environment, name, value);
        } else if (!is_optional(source)) {
            *why = mur_alloc_text("env %s: what valueFrom names is not there", name);
            return -1;
        }
    }
    return 0;
}

/* The machine's pods find this Murmur's mpirun first; those of other images have the path of images. */
static void add_basics(const struct mur_runner *runner, const struct mur_pod *pod, struct mur_value *environment)
{
    const char *path = getenv("PATH");

    mur_value_put(environment, "HOSTNAME", mur_value_text("%s", pod->hostname));
    if (pod->image) {
        mur_value_put(environment, "PATH",
                      mur_value_text("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
        mur_value_put(environment, "HOME", mur_value_text("/root"));
        return;
    }
    mur_value_put(environment, "PATH", mur_value_text("%s:%s", runner->program_folder, path ? path : "/usr/bin:/bin"));
    for (int i = 0; passed[i]; i++)
        if (getenv(passed[i]))
            mur_value_put(environment, passed[i], mur_value_text("%s", getenv(passed[i])));
}

/* Without mounts, paths of volumes are where the volumes lie. */
static void replace_paths(const struct mur_pod *pod, struct mur_value *environment)
{
    for (int i = 0; i < environment->count; i++)
        for (int j = 0; j < pod->mount_count; j++) {
            const char *text = environment->members[i].value->text;
            size_t length = strlen(pod->mounts[j].target);

            if (strncmp(text, pod->mounts[j].target, length) == 0 && (text[length] == '/' || text[length] == '\0')) {
                struct mur_value *moved = mur_value_text("%s%s", pod->mounts[j].source, text + length);

                mur_value_free(environment->members[i].value);
                environment->members[i].value = moved;
                break;
            }
        }
}

static void make_command(struct mur_pod *pod, const struct mur_value *container, const struct mur_value *environment)
{
    const struct mur_value *parts[] = {mur_value_get(container, "command"), mur_value_get(container, "args")};
    int count = 0;

    pod->command = mur_alloc((size_t)(mur_value_count(parts[0]) + mur_value_count(parts[1])) + 1, sizeof *pod->command);
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < mur_value_count(parts[part]); i++) {
            struct mur_value *word = expand(parts[part]->members[i].value->text, environment);

            pod->command[count++] = mur_alloc_text("%s", word->text);
            mur_value_free(word);
        }
}

int mur_environment_make(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object, char **why)
{
    const struct mur_value *container = mur_value_at(object, "spec.containers")->members[0].value;
    struct mur_value *environment = mur_value_new(MUR_MAP);

    add_basics(runner, pod, environment);
    if (add_entries(runner, pod, object, environment, why) < 0) {
        mur_value_free(environment);
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
    if (mur_value_get(container, "workingDir"))
        pod->directory = mur_alloc_text("%s", mur_value_string(container, "workingDir", "/"));
    else
        pod->directory = pod->image ? mur_alloc_text("/") : NULL;
    mur_value_free(environment);
    return *why ? -1 : 0;
}
