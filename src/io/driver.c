/* SPDX-License-Identifier: BSD-3-Clause */
/* Which driver serves a file: by the prefix of its name, else by its file system. Those of clusters that keep their
 * clients coherent are like local ones; those whose clients cache are like NFS. */
#include "io/driver.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>

static rlim_t limit = RLIM_INFINITY; /* bytes of a file */

void mur_driver_learn_limit(void)
{
    struct rlimit now;

    limit = getrlimit(RLIMIT_FSIZE, &now) ? RLIM_INFINITY : now.rlim_cur;
}

bool mur_driver_is_beyond_limit(off_t end)
{
    return limit != RLIM_INFINITY && (rlim_t)end > limit;
}

static const struct {
    const char *prefix;
    const struct mur_driver *driver;
} prefixes[] = {
    {"ufs:", &mur_driver_posix},    {"nfs:", &mur_driver_nfs},   {"lustre:", &mur_driver_posix},
    {"gpfs:", &mur_driver_posix},   {"xfs:", &mur_driver_posix}, {"panfs:", &mur_driver_posix},
    {"testfs:", &mur_driver_posix},
};

/* Numbers of the kernel's; those of file systems outside of it are not in its headers. */
static const struct {
    const char *name;
    uint32_t magic;
} cached[] = {
    {"nfs", 0x6969},      {"smb", 0x517b},      {"smb2", 0xfe534d42}, {"cifs", 0xff534d42}, {"afs", 0x5346414f},
    {"kafs", 0x6b414653}, {"coda", 0x73757245}, {"9p", 0x01021997},   {"fuse", 0x65735546},
};

const char *mur_driver_prefix(const char *name, const struct mur_driver **driver)
{
    *driver = NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i].prefix);

        if (strncmp(name, prefixes[i].prefix, length) == 0) {
            *driver = prefixes[i].driver;
            return name + length;
        }
    }
    return name;
}

const struct mur_driver *mur_driver_find(int fd)
{
    struct statfs status;

    if (fstatfs(fd, &status))
        return &mur_driver_posix;
    for (size_t i = 0; i < sizeof cached / sizeof cached[0]; i++)
        if ((uint32_t)status.f_type == cached[i].magic)
            return &mur_driver_nfs;
    return &mur_driver_posix;
}
