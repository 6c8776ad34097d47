/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers and the structure below are the kernel's (include/uapi/linux/pidfd.h,
 * Documentation/filesystems/proc.rst); the C library's headers of older systems lack them. */
#include "launch/pidfd.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* the same on all machines but Alpha */
#endif

struct info { /* the first version of the kernel's struct pidfd_info */
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11]; /* pid, tgid, ppid, four uids and gids in pairs */
    int32_t exit_code;
};
_Static_assert(sizeof(struct info) == 64, "the kernel knows the structure by its size");

#define GET_INFO _IOWR(0xFF, 11, struct info)
enum { INFO_EXIT = 1 << 3 };

int mur_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec */
}

/* The last field of the line that the kernel shows of a process that has ended and that its parent has not waited for.
 */
static bool read_zombie(pid_t pid, int *status)
{
    char path[64], text[1024], *at;
    size_t got;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    at = strrchr(text, ')'); /* the name may hold anything */
    if (!at || at[1] != ' ' || at[2] != 'Z')
        return false;
    at = strrchr(at, ' '); /* field 52 is the last */
    return at && sscanf(at, "%d", status) == 1;
}

static bool read_info(int fd, int *status)
{
    struct info info = {.mask = INFO_EXIT};

    if (ioctl(fd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
        return false;
    *status = info.exit_code;
    return true;
}

/* The parent may wait for the process between the two looks: then the kernel tells at the second. */
bool mur_pidfd_status(int fd, pid_t pid, int *status)
{
    return read_info(fd, status) || read_zombie(pid, status) || read_info(fd, status);
}
