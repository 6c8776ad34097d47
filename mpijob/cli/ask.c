/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about a job that runs on this machine: they ask its run by its socket. Jobs of clusters: cluster.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/agent/protocol.h"
#include "mpijob/cli/cli.h"
#include "mpijob/cli/cluster.h"
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

/* The run on this machine. Returns its answer, MUR_ASK_NOBODY if there is no such run. */
static int ask_run(const struct mur_cluster_words *words)
{
    char *place = mur_place_of(words->space ? words->space : "default", words->name);
    char *path = mur_alloc_text("%s/door/socket", place), *ask[2] = {(char *)words->command, (char *)words->pod};
    int status = mur_ask(path, words->pod ? 2 : 1, ask);

    free(place);
    free(path);
    return status;
}

static void read_words(struct mur_cluster_words *words, int count, char **list)
{
    bool is_log = strcmp(words->command, "logs") == 0;

    for (int i = 0; i < count; i++) {
        const char *word = list[i] + (strncmp(list[i], "--", 2) == 0), *value = i + 1 < count ? list[i + 1] : NULL;

        if ((strcmp(word, "-n") == 0 || strcmp(word, "-namespace") == 0) && value)
            words->space = list[++i];
        else if (strcmp(word, "-kubeconfig") == 0 && value)
            words->kubeconfig = list[++i];
        else if (strcmp(word, "-api") == 0 && value)
            words->server = list[++i];
        else if ((strcmp(word, "-f") == 0 || strcmp(word, "-follow") == 0) && is_log)
            words->follows = true;
        else if (!words->name && word[0] != '-')
            words->name = list[i];
        else if (!words->pod && is_log && word[0] != '-')
            words->pod = list[i];
        else
            mur_quit(MUR_EXIT_USAGE, "%s: unexpected: %s", words->command, list[i]);
    }
}

static int ask_cluster(const struct mur_cluster_words *words)
{
#ifdef MUR_HAVE_API
    return mur_cli_cluster(words);
#else
    mur_quit(MUR_EXIT_USAGE, "%s: this mpijob was built without the libraries that the Kubernetes API needs",
             words->command);
#endif
}

/* A job that runs on this machine, or one of the cluster that the words, or $KUBECONFIG, name. */
int mur_cli_ask(const char *command, int count, char **list)
{
    struct mur_cluster_words words = {.command = command};
    bool is_log = strcmp(command, "logs") == 0, has_cluster = getenv("KUBECONFIG") && *getenv("KUBECONFIG");
    bool is_complete;
    int status;

    read_words(&words, count, list);
    is_complete = words.name && (!is_log || words.pod);
    if (words.kubeconfig || words.server || (has_cluster && !is_complete))
        return ask_cluster(&words);
    if (!is_complete)
        mur_quit(MUR_EXIT_USAGE, "%s needs the name of a job%s", command, is_log ? " and of a pod" : "");
    status = ask_run(&words);
    if (status == MUR_ASK_NOBODY && has_cluster)
        return ask_cluster(&words);
    if (status == MUR_ASK_NOBODY || status == MUR_ASK_LOST)
        mur_quit(MUR_EXIT_TROUBLE, "mpijobs.kubeflow.org \"%s\" not found: no such job runs here in namespace %s",
                 words.name, words.space ? words.space : "default");
    if (status != 0 && is_log)
        mur_quit(status, "pods \"%s\" not found", words.pod);
    return status;
}
