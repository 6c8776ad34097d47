/* SPDX-License-Identifier: BSD-3-Clause */
/* CRIU runs in the tree's own namespaces, so that it sees the numbers and mounts that its processes see. What it has
 * written is packed when the tree goes on. */
#include "launch/checkpoint/saver.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/checkpoint/checkpoint.h"
#include "launch/checkpoint/pack.h"
#include "launch/checkpoint/sockets.h"
#include "launch/checkpoint/root.h"

char *mur_saver_folder(const char *folder, int node)
{
    return mur_alloc_text("%s/node-%d.criu", folder, node);
}

char *mur_saver_image(const char *folder, int node)
{
    return mur_alloc_text("%s/node-%d.image", folder, node);
}

char *mur_saver_notes(const char *folder, int node)
{
    return mur_alloc_text("%s/node-%d.ranks", folder, node);
}

static _Noreturn void tell(const struct mur_save *save, const struct mur_saver_message *message)
{
    send(save->line, message, sizeof *message, MSG_NOSIGNAL);
    _exit(message->kind != MUR_SAVER_DONE);
}

static bool join_namespaces(pid_t init, struct mur_saver_message *message)
{
    static const char *const kinds[] = {"pid", "mnt"};

    for (int i = 0; i < 2; i++) {
        char path[64];
        int fd;

        snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)init, kinds[i]);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, 0) < 0) {
            snprintf(message->text, sizeof message->text, "cannot enter the ranks' namespaces: %s", strerror(errno));
            return false;
        }
        close(fd);
    }
    return true;
}

int mur_saver_open_complaints(const char *folder)
{
    char *path = mur_alloc_text("%s/complaints", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    free(path);
    return fd;
}

static bool dump(const struct mur_save *save, const char *folder, struct mur_saver_message *message)
{
    struct mur_words words;
    int status;

    if (!mur_criu_begin(&words, "dump", message->text, sizeof message->text))
        return false;
    mur_criu_add_dump(&words, folder);
    mur_hook_add(&words);
    mur_words_add(&words, "-t");
    mur_words_add(&words, "%d", MUR_ROOT_PID);
    for (int i = 0; i < save->externals->count; i++) {
        mur_words_add(&words, "--external");
        mur_words_add(&words, "%s", save->externals->items[i]);
    }
    if (!join_namespaces(save->init, message))
        return false;
    status = mur_hook_serve(&words, folder, save->line);
    if (status != 0)
        mur_criu_explain(folder, "dump.log", status, message->text, sizeof message->text);
    return status == 0;
}

static bool finish(const struct mur_save *save, const char *folder, struct mur_saver_message *message)
{
    char *path = mur_saver_image(save->folder, save->node), text[MUR_PACK_TEXT];
    bool is_good = mur_sockets_close(folder);

    if (!is_good)
        snprintf(text, sizeof text, "cannot understand what CRIU has noted of sockets (%s)",
                 errno ? strerror(errno) : "files.img");
    is_good = is_good && mur_pack_write(folder, path, text) && mur_pack_sum(path, &message->sum, &message->bytes, text);
    if (!is_good)
        snprintf(message->text, sizeof message->text, "%s", text);
    free(path);
    return is_good;
}

/* A descriptor of the agent's that stayed open here would not be seen as closed. */
static void keep_only(int line)
{
    if (line > 3)
        syscall(SYS_close_range, 3U, (unsigned)line - 1, 0U);
    syscall(SYS_close_range, (unsigned)line + 1, ~0U, 0U);
}

pid_t mur_saver_start(const struct mur_save *save)
{
    struct mur_saver_message message = {.kind = MUR_SAVER_FAILED};
    char *folder;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "mur-saver");
    keep_only(save->line);
    folder = mur_saver_folder(save->folder, save->node);
    if (mkdir(folder, 0700) < 0)
        snprintf(message.text, sizeof message.text, "cannot make '%s': %s", folder, strerror(errno));
    else if (dump(save, folder, &message) && finish(save, folder, &message))
        message.kind = MUR_SAVER_DONE;
    mur_pack_remove(folder);
    tell(save, &message);
}
