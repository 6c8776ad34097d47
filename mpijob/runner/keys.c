/* SPDX-License-Identifier: BSD-3-Clause */
/* A pair of keys for those who use ssh in pods; none where there is no ssh-keygen. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "mpijob/runner/runner.h"

static char *read_file(const char *path)
{
    char text[8192] = "";
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;

    text[got] = '\0';
    if (file)
        fclose(file);
    return mur_alloc_text("%s", text);
}

void mur_keys_make(const char *folder, char **private_key, char **public_key)
{
    char *path = mur_alloc_text("%s/key", folder), *public_path = mur_alloc_text("%s.pub", path);
    pid_t child;

    unlink(path);
    unlink(public_path);
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);

        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execlp("ssh-keygen", "ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-N", "", "-C", "mpijob", "-f", path,
               (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    *private_key = read_file(path);
    *public_key = read_file(public_path);
    unlink(path);
    unlink(public_path);
    free(path);
    free(public_path);
}
