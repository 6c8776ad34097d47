/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file system needs to be accessed: one table of operations each. All take a file descriptor; they fail like
 * system calls do, with -1 and errno, and are never interrupted half-way by a signal. */
#ifndef MUR_IO_DRIVER_H
#define MUR_IO_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mur_driver {
    const char *name;
    /* What is written in one process of a host is seen by all others of it, so bytes that were read may be written back
     * under a lock that the ranks share in memory (data sieving). Else only a lock on the file makes that safe. */
    bool is_coherent;
    /* A client may write out more of a page than was written into it, as it once was, unless bytes of the file are
     * locked meanwhile (Linux, nfs_can_extend_write). So writes are locked, if the server has locks. */
    bool widens_writes;
    /* All of it, or, reading, up to the file's end. Returns how many bytes. */
    ssize_t (*read)(int fd, void *memory, size_t bytes, off_t offset);
    ssize_t (*write)(int fd, const void *memory, size_t bytes, off_t offset);
    /* Says what will be read soon. */
    void (*fetch)(int fd, size_t bytes, off_t offset);
    /* What this process has written is on disk, what others have synced is seen. */
    int (*sync)(int fd);
    /* Locks of byte ranges against all other openings of the file, also on other hosts; length 0: to the end. They end
     * with the process at the latest. */
    int (*lock)(int fd, bool is_exclusive, off_t offset, off_t length);
    int (*unlock)(int fd, off_t offset, off_t length);
};

extern const struct mur_driver mur_driver_posix, mur_driver_nfs;

/* A file's name may begin with the kind of its file system and a colon, as users of ROMIO write it ("nfs:"): returns
 * the name without it, and sets *driver to what was asked for, or to NULL. */
const char *mur_driver_prefix(const char *name, const struct mur_driver **driver);

/* The one for the file system of an open file. */
const struct mur_driver *mur_driver_find(int fd);

/* The process may have a limit for the size of files, which the kernel enforces with a signal that ends it. So nothing
 * is begun beyond it; what reaches across it falls short there, as the kernel does it. Looked up as a file is opened.
 */
void mur_driver_learn_limit(void);
bool mur_driver_is_beyond_limit(off_t end);

#endif
