/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pod sees of the file system, arranged in its own mount namespace.
 *
 * The root of a pod of image `host` is the machine's; that of another is the image's directory below a layer that is
 * memory, so the directory stays as it is. A place for a mount that does not exist on the machine must not be left
 * there: the folder above it is veiled, by memory in which everything that it has is mounted again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/runner/runner.h"

static int fail(const char *what, const char *place)
{
    fprintf(stderr, "mpijob: %s %s: %s\n", what, place, strerror(errno));
    return -1;
}

static int touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    return fd < 0 ? -1 : close(fd);
}

/* One entry of a veiled folder: a link is made again, anything else is mounted. */
static int carry(const char *from, const char *to)
{
    struct stat status;
    char target[4096];
    ssize_t length;

    if (lstat(from, &status) < 0)
        return 0; /* it has just gone */
    if (S_ISLNK(status.st_mode)) {
        length = readlink(from, target, sizeof target - 1);
        if (length < 0)
            return -1;
        target[length] = '\0';
        return symlink(target, to);
    }
    if ((S_ISDIR(status.st_mode) ? mkdir(to, 0755) : touch(to)) < 0)
        return -1;
    return mount(from, to, NULL, MS_BIND | MS_REC, NULL);
}

/* The old folder stays reachable by its descriptor while the memory lies over it. */
static int veil(const char *folder)
{
    int old = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    struct stat status;
    struct dirent *entry;
    DIR *list;
    char from[4200], to[4200];

    if (old < 0 && errno == EACCES) /* root's, for another user: nothing in it could be reached anyway */
        return mount("mpijob", folder, "tmpfs", 0, "size=1m,mode=700") < 0 ? fail("cannot veil", folder) : 0;
    if (old < 0 || fstat(old, &status) < 0 || mount("mpijob", folder, "tmpfs", 0, "size=1m") < 0)
        return fail("cannot veil", folder);
    chmod(folder, status.st_mode & 07777);
    list = fdopendir(old);
    while (rc == 0 && list && (entry = readdir(list))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(from, sizeof from, "/proc/self/fd/%d/%s", dirfd(list), entry->d_name);
        snprintf(to, sizeof to, "%s/%s", folder, entry->d_name);
        if (carry(from, to) < 0)
            rc = fail("cannot mount again what is in", folder);
    }
    if (list)
        closedir(list);
    return rc;
}

/* Makes sure that `path` is there to be mounted on. `is_private` says that what is made is seen by this pod alone. */
static int make_place(const char *path, bool is_folder, bool is_private)
{
    char *above = mur_alloc_text("%s", path), *slash;
    struct stat status;
    int rc = 0;

    if (stat(path, &status) == 0) {
        free(above);
        return 0;
    }
    while ((slash = strrchr(above, '/')) && slash > above) {
        *slash = '\0';
        if (stat(above, &status) == 0)
            break;
    }
    if (!is_private && above[1])
        rc = veil(above);
    for (char *at = above + strlen(above); rc == 0 && path[at - above];) {
        size_t next = (size_t)(at - above) + 1 + strcspn(path + (at - above) + 1, "/");
        char *part = mur_alloc_text("%.*s", (int)next, path);

        if (path[next] || is_folder)
            rc = mkdir(part, 0755) < 0 && errno != EEXIST ? fail("cannot make", part) : 0;
        else
            rc = touch(part) < 0 ? fail("cannot make", part) : 0;
        free(part);
        at = above + next;
    }
    free(above);
    return rc;
}

static int make_mount(const char *root, const struct mur_mount *want, bool is_private)
{
    char *target = mur_alloc_text("%s%s", root, want->target), options[64];
    struct stat status;
    bool is_folder = want->is_memory || (stat(want->source, &status) == 0 && S_ISDIR(status.st_mode));
    int rc = make_place(target, is_folder, is_private);

    if (rc == 0 && want->is_memory) {
        snprintf(options, sizeof options, "mode=1777%s%.0f", want->size > 0 ? ",size=" : "", want->size);
        if (want->size <= 0)
            options[strlen("mode=1777")] = '\0';
        if (mount("mpijob", target, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
            rc = fail("cannot mount memory at", target);
    } else if (rc == 0 && mount(want->source, target, NULL, MS_BIND | MS_REC, NULL) < 0) {
        rc = fail("cannot mount at", target);
    }
    if (rc == 0 && want->is_read_only && mount(NULL, target, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0 &&
        mount(NULL, target, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0)
        rc = fail("cannot make read only", target);
    free(target);
    return rc;
}

/* The directory of an image below a layer of memory, or itself where the kernel has no layers. */
static int mount_image(const char *image, const char *layer, const char *root)
{
    char *upper = mur_alloc_text("%s/upper", layer), *work = mur_alloc_text("%s/work", layer);
    char *options = mur_alloc_text("lowerdir=%s,upperdir=%s,workdir=%s", image, upper, work);
    int rc = 0;

    if (mount("mpijob", layer, "tmpfs", 0, NULL) < 0 || mkdir(upper, 0755) < 0 || mkdir(work, 0755) < 0)
        rc = fail("cannot make a layer at", layer);
    else if (mount("mpijob", root, "overlay", 0, options) < 0 && mount(image, root, NULL, MS_BIND | MS_REC, NULL) < 0)
        rc = fail("cannot mount the image", image);
    free(upper);
    free(work);
    free(options);
    return rc;
}

static int enter_root(const char *root)
{
    if (chdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return fail("cannot enter", root);
    return 0;
}

int mur_mounts_make(const struct mur_pod *pod, const char *door)
{
    static const struct mur_mount machine[] = {{.source = "/dev", .target = "/dev"},
                                               {.source = "/sys", .target = "/sys"}};
    const struct mur_mount shared = {.target = "/dev/shm", .is_memory = true};
    char *root = mur_alloc_text("%s", ""), *layer = mur_alloc_text("%s/layer", pod->folder), *process;
    struct mur_mount run = {.source = (char *)door, .target = (char *)door};
    int rc = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? fail("cannot have mounts of its own at", "/") : 0;

    if (rc == 0 && pod->image) {
        free(root);
        root = mur_alloc_text("%s/root", pod->folder);
        rc = mount_image(pod->image, layer, root);
        for (int i = 0; rc == 0 && i < 2; i++)
            rc = make_mount(root, &machine[i], true);
        if (rc == 0)
            rc = make_mount(root, &run, true);
    }
    process = mur_alloc_text("%s/proc", root);
    if (rc == 0)
        rc = make_place(process, true, pod->image != NULL);
    if (rc == 0 && mount("proc", process, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        rc = fail("cannot mount", process);
    if (rc == 0)
        rc = make_mount(root, &shared, pod->image != NULL);
    for (int i = 0; rc == 0 && i < pod->mount_count; i++)
        rc = make_mount(root, &pod->mounts[i], pod->image != NULL);
    if (rc == 0 && pod->image)
        rc = enter_root(root);
    free(process);
    free(layer);
    free(root);
    return rc;
}
