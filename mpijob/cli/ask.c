/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about a job that runs on this machine: they ask its run by its socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/agent/protocol.h"
#include "mpijob/cli/cli.h"
#include "mpijob/cli/place.h"

/* Nobody else may have made the folder: what lies in it is trusted. */
char *mur_place_of(const char *space, const char *name)
{
    const char *above = getenv("XDG_RUNTIME_DIR");
    char *folder = mur_alloc_text("%s/mpijob-%u", above && *above ? above : "/tmp", (unsigned)geteuid()), *place;
    struct stat status;

    if (mkdir(folder, 0711) < 0 && errno != EEXIST)
        mur_quit(MUR_EXIT_TROUBLE, "cannot make the folder %s: %s", folder, strerror(errno));
    if (lstat(folder, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022))
        mur_quit(MUR_EXIT_TROUBLE, "%s is not a folder of this user alone: set XDG_RUNTIME_DIR to another place",
                 folder);
    place = mur_alloc_text("%s/%s.%s", folder, space, name);
    free(folder);
    return place;
}

int mur_cli_ask(const char *command, int count, char **words)
{
    const char *space = "default", *name = NULL, *pod = NULL;
    bool is_log = strcmp(command, "logs") == 0;
    char *ask[2], *path, *place;
    int status;

    for (int i = 0; i < count; i++)
        if ((strcmp(words[i], "-n") == 0 || strcmp(words[i], "--namespace") == 0) && i + 1 < count)
            space = words[++i];
        else if (!name)
            name = words[i];
        else if (!pod && is_log)
            pod = words[i];
        else
            mur_quit(MUR_EXIT_USAGE, "%s: unexpected: %s", command, words[i]);
    if (!name || (is_log && !pod))
        mur_quit(MUR_EXIT_USAGE, "%s needs the name of a job%s", command, is_log ? " and of a pod" : "");
    place = mur_place_of(space, name);
    path = mur_alloc_text("%s/door/socket", place);
    ask[0] = (char *)command;
    ask[1] = (char *)pod;
    status = mur_ask(path, pod ? 2 : 1, ask);
    if (status == MUR_ASK_NOBODY || status == MUR_ASK_LOST)
        mur_quit(MUR_EXIT_TROUBLE, "mpijobs.kubeflow.org \"%s\" not found: no such job runs here in namespace %s", name,
                 space);
    if (status != 0 && is_log)
        mur_quit(status, "pods \"%s\" not found", pod);
    free(place);
    free(path);
    return status;
}
