/* SPDX-License-Identifier: BSD-3-Clause */
/* The volumes of a pod, laid out below its folder, and the list of its mounts. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/document/base64.h"
#include "mpijob/runner/runner.h"
#include "mpijob/schema/schema.h"

static const struct mur_value *find_volume(const struct mur_value *pod, const char *name)
{
    const struct mur_value *volumes = mur_value_at(pod, "spec.volumes");

    for (int i = 0; i < mur_value_count(volumes); i++)
        if (strcmp(mur_value_string(volumes->members[i].value, "name", ""), name) == 0)
            return volumes->members[i].value;
    return NULL;
}

char *mur_value_of(const struct mur_value *object, const char *key, size_t *length)
{
    bool is_secret = strcmp(mur_value_string(object, "kind", ""), "Secret") == 0;
    const struct mur_value *plain = mur_value_get(mur_value_get(object, is_secret ? "stringData" : "data"), key);
    const struct mur_value *coded = mur_value_get(mur_value_get(object, is_secret ? "data" : "binaryData"), key);
    const struct mur_value *value = plain ? plain : coded;
    char *text;

    if (!value || !value->text)
        return NULL;
    text = mur_alloc(strlen(value->text) + 1, 1);
    if (value == plain)
        memcpy(text, value->text, *length = strlen(value->text));
    else
        *length = mur_base64_decode(value->text, text); /* as Secrets have their data */
    return text;
}

/* In place of the old file, at once. */
static int write_value(const char *folder, const char *name, const char *text, size_t length, long long mode)
{
    char *path = mur_alloc_text("%s/%s", folder, name), *fresh = mur_alloc_text("%s/.%s.new", folder, name);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), rc = -1;

    if (fd >= 0) {
        rc = write(fd, text, length) == (ssize_t)length && fchmod(fd, (mode_t)mode) == 0 && rename(fresh, path) == 0
                 ? 0
                 : -1;
        close(fd);
    }
    free(path);
    free(fresh);
    return rc;
}

static int write_item(const struct mur_value *object, const char *folder, const char *key, const char *path,
                      long long mode)
{
    size_t length;
    char *value = mur_value_of(object, key, &length);
    int rc = -1;

    errno = ENOENT;
    if (value && !strchr(path, '/'))
        rc = write_value(folder, path, value, length, mode);
    free(value);
    return rc;
}

/* All keys, or the listed ones. Returns the key that could not be written, or NULL. */
static const char *write_keys(const struct mur_value *object, const struct mur_value *source, const char *folder)
{
    static const char *const parts[] = {"data", "binaryData", "stringData"};
    const struct mur_value *items = mur_value_get(source, "items");
    long long mode = mur_value_long(source, "defaultMode", 0644);

    for (int i = 0; i < mur_value_count(items); i++) {
        const struct mur_value *item = items->members[i].value;
        const char *key = mur_value_string(item, "key", "");

        if (write_item(object, folder, key, mur_value_string(item, "path", key), mur_value_long(item, "mode", mode)) <
            0)
            return key;
    }
    for (int part = 0; !items && part < 3; part++) {
        const struct mur_value *values = mur_value_get(object, parts[part]);

        for (int i = 0; i < mur_value_count(values); i++)
            if (write_item(object, folder, values->members[i].name, values->members[i].name, mode) < 0)
                return values->members[i].name;
    }
    return NULL;
}

static const struct mur_value *object_of(const struct mur_runner *runner, const struct mur_value *volume)
{
    const struct mur_value *config = mur_value_get(volume, "configMap"), *secret = mur_value_get(volume, "secret");

    if (config)
        return mur_store_find(runner->store, "ConfigMap", mur_value_string(config, "name", ""));
    return mur_store_find(runner->store, "Secret", mur_value_string(secret, "secretName", ""));
}

static int lay_out_keys(const struct mur_runner *runner, const struct mur_value *volume, const char *folder, char **why)
{
    bool is_config = mur_value_get(volume, "configMap") != NULL;
    const struct mur_value *source = mur_value_get(volume, is_config ? "configMap" : "secret");
    const struct mur_value *object = object_of(runner, volume);
    const char *key, *name = mur_value_string(source, is_config ? "name" : "secretName", "");

    if (!object && mur_value_true(source, "optional"))
        return 0;
    if (!object) {
        *why = mur_alloc_text("%s \"%s\" not found: put it into the file", is_config ? "configmap" : "secret", name);
        return -1;
    }
    key = write_keys(object, source, folder);
    if (!key)
        return 0;
    *why = mur_alloc_text("%s \"%s\": key %s cannot be written: %s", is_config ? "configmap" : "secret", name, key,
                          strerror(errno));
    return -1;
}

static int check_host_path(const struct mur_value *source, char **why)
{
    const char *path = mur_value_string(source, "path", ""), *type = mur_value_string(source, "type", "");
    struct stat status;
    int fd;

    if (strcmp(type, "DirectoryOrCreate") == 0)
        mkdir(path, 0755);
    if (strcmp(type, "FileOrCreate") == 0 && (fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644)) >= 0)
        close(fd);
    if (stat(path, &status) < 0)
        *why = mur_alloc_text("hostPath %s: %s", path, strerror(errno));
    else if (strncmp(type, "Directory", 9) == 0 && !S_ISDIR(status.st_mode))
        *why = mur_alloc_text("hostPath type check failed: %s is not a directory", path);
    else if (strncmp(type, "File", 4) == 0 && !S_ISREG(status.st_mode))
        *why = mur_alloc_text("hostPath type check failed: %s is not a file", path);
    return *why ? -1 : 0;
}

static void add_mount(struct mur_pod *pod, struct mur_mount mount)
{
    pod->mounts = mur_alloc_again(pod->mounts, (size_t)pod->mount_count + 1, sizeof *pod->mounts);
    pod->mounts[pod->mount_count++] = mount;
}

/* What these have is found by the environment, whose paths are replaced where nothing can be mounted. */
static bool is_of_operator(const struct mur_value *volume)
{
    const char *name = mur_value_string(volume, "name", "");

    return strcmp(name, "mpi-job-config") == 0 || strcmp(name, "ssh-auth") == 0;
}

static int add_volume(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *mount,
                      const struct mur_value *volume, char **why)
{
    const struct mur_value *empty = mur_value_get(volume, "emptyDir"), *host = mur_value_get(volume, "hostPath");
    char *folder = mur_alloc_text("%s/volumes/%s", pod->folder, mur_value_string(volume, "name", ""));
    const char *part = mur_value_string(mount, "subPath", ""), *limit = mur_value_string(empty, "sizeLimit", "0");
    struct mur_mount result = {.target = mur_alloc_text("%s", mur_value_string(mount, "mountPath", "")),
                               .is_read_only = mur_value_true(mount, "readOnly")};

    if (mkdir(folder, 0777) == 0)
        chmod(folder, 0777);
    if (host && check_host_path(host, why) < 0)
        return -1;
    if ((mur_value_get(volume, "configMap") || mur_value_get(volume, "secret")) &&
        lay_out_keys(runner, volume, folder, why) < 0)
        return -1;
    result.is_memory =
        empty && (strcmp(mur_value_string(empty, "medium", ""), "Memory") == 0 || mur_quantity(limit) > 0);
    result.size = mur_quantity(limit);
    result.source =
        mur_alloc_text("%s%s%s", host ? mur_value_string(host, "path", "") : folder, *part ? "/" : "", part);
    if (empty && *part && !result.is_memory)
        mkdir(result.source, 0777);
    if (access(result.source, F_OK) < 0) {
        *why = mur_alloc_text("volume %s has no %s", mur_value_string(volume, "name", ""), part);
        return -1;
    }
    if (!runner->isolates && !is_of_operator(volume) && strcmp(result.source, result.target) != 0) {
        *why = mur_alloc_text("a mount at %s needs namespaces, which are not permitted here", result.target);
        return -1;
    }
    free(folder);
    add_mount(pod, result);
    return 0;
}

int mur_volumes_make(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object, char **why)
{
    const struct mur_value *mounts =
        mur_value_get(mur_value_at(object, "spec.containers")->members[0].value, "volumeMounts");
    char *hosts = mur_alloc_text("%s/hosts", runner->folder), *daemon = mur_alloc_text("%s/sshd", runner->door);
    char *volumes = mur_alloc_text("%s/volumes", pod->folder);

    mkdir(volumes, 0755);
    free(volumes);
    pod->mount_count = 0;
    add_mount(pod, (struct mur_mount){.source = hosts, .target = mur_alloc_text("/etc/hosts")});
    if (pod->is_worker)
        add_mount(pod, (struct mur_mount){.source = daemon, .target = mur_alloc_text("/usr/sbin/sshd")});
    for (int i = 0; i < mur_value_count(mounts); i++) {
        const struct mur_value *mount = mounts->members[i].value;
        const struct mur_value *volume = find_volume(object, mur_value_string(mount, "name", ""));

        if (!volume) {
            *why = mur_alloc_text("volume %s is not there", mur_value_string(mount, "name", ""));
            return -1;
        }
        if (add_volume(runner, pod, mount, volume, why) < 0)
            return -1;
    }
    return 0;
}

void mur_volumes_refresh(struct mur_runner *runner, struct mur_pod *pod, const struct mur_value *object,
                         const struct mur_value *config)
{
    const struct mur_value *volumes = mur_value_at(object, "spec.volumes");

    for (int i = 0; i < mur_value_count(volumes); i++) {
        const struct mur_value *volume = volumes->members[i].value;
        char *folder = mur_alloc_text("%s/volumes/%s", pod->folder, mur_value_string(volume, "name", "")), *why = NULL;

        if (mur_value_get(volume, "configMap") && object_of(runner, volume) == config)
            lay_out_keys(runner, volume, folder, &why);
        free(why);
        free(folder);
    }
}
