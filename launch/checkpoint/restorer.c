/* SPDX-License-Identifier: BSD-3-Clause */
/* The image is checked as a whole before one byte of it is believed. Files that the ranks have written since the
 * snapshot become as long as they were then: what comes after it is written once more. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/checkpoint/pack.h"
#include "launch/checkpoint/saver.h"
#include "launch/checkpoint/root.h"

static bool check(const struct mur_bring_back *back, const char *image, struct mur_saver_message *message)
{
    char text[MUR_PACK_TEXT];
    uint64_t sum, bytes;

    if (!mur_pack_sum(image, &sum, &bytes, text))
        snprintf(message->text, sizeof message->text, "%s", text);
    else if (sum != back->sum)
        snprintf(message->text, sizeof message->text, "'%.1000s' is not what was saved: its checksum is wrong", image);
    else
        return true;
    return false;
}

static bool unpack_to(const char *image, const char *folder, struct mur_saver_message *message)
{
    char text[MUR_PACK_TEXT];

    if (mur_pack_read(image, folder, text))
        return true;
    snprintf(message->text, sizeof message->text, "%s", text);
    mur_pack_remove(folder);
    return false;
}

/* Returns the folder; NULL: there is room neither beside the image nor where temporary files go. */
static char *unpack(const struct mur_bring_back *back, struct mur_saver_message *message)
{
    char *image = mur_saver_image(back->folder, back->node), *folder = mur_saver_folder(back->folder, back->node);
    const char *temporary = getenv("TMPDIR");

    if (!check(back, image, message))
        return NULL;
    mur_pack_remove(folder); /* of an earlier restart that was killed */
    if (mkdir(folder, 0700) == 0 && unpack_to(image, folder, message))
        return folder;
    folder = mur_alloc_text("%s/murmur-restore-XXXXXX", temporary ? temporary : "/tmp");
    if (mkdtemp(folder))
        return unpack_to(image, folder, message) ? folder : NULL;
    snprintf(message->text, sizeof message->text, "cannot make '%.1000s': %s", folder, strerror(errno));
    return NULL;
}

static bool cut_files(const struct mur_notes *notes, struct mur_saver_message *message)
{
    for (int i = 0; i < notes->file_count; i++) {
        const struct mur_file_note *file = &notes->files[i];
        struct stat status;

        if (stat(file->path, &status) < 0 || (uint64_t)status.st_size < file->bytes) {
            snprintf(message->text, sizeof message->text,
                     "the file '%s', which ranks had open for writing with %" PRIu64 " bytes, %s", file->path,
                     file->bytes,
                     status.st_size < 0 || access(file->path, F_OK) < 0 ? "is not there" : "is shorter now");
            return false;
        }
        if ((uint64_t)status.st_size > file->bytes && truncate(file->path, (off_t)file->bytes) < 0) {
            snprintf(message->text, sizeof message->text, "cannot take back what was written to '%s' since: %s",
                     file->path, strerror(errno));
            return false;
        }
    }
    return true;
}

static bool restore(const struct mur_bring_back *back, const char *folder, struct mur_saver_message *message)
{
    int status, fd;
    struct mur_words words;

    if (!mur_criu_begin(&words, "restore", message->text, sizeof message->text))
        return false;
    mur_criu_add_restore(&words, folder);
    mur_hook_add(&words);
    for (int i = 0; i < back->inherited->count; i++) {
        mur_words_add(&words, "--inherit-fd");
        mur_words_add(&words, "%s", back->inherited->items[i]);
        if (sscanf(back->inherited->items[i], "fd[%d]", &fd) == 1)
            fcntl(fd, F_SETFD, 0);
    }
    status = mur_hook_serve(&words, folder, back->line);
    if (status != 0)
        mur_criu_explain(folder, "restore.log", status, message->text, sizeof message->text);
    return status == 0;
}

static void bring_back(void *owner)
{
    const struct mur_bring_back *back = owner;
    struct mur_saver_message message = {.kind = MUR_SAVER_FAILED};
    char *folder = unpack(back, &message);

    if (folder && cut_files(back->notes, &message) && restore(back, folder, &message))
        message.kind = MUR_SAVER_DONE;
    if (folder)
        mur_pack_remove(folder);
    send(back->line, &message, sizeof message, MSG_NOSIGNAL);
}

pid_t mur_restorer_start(const struct mur_bring_back *back)
{
    struct mur_bring_back copy = *back;

    return mur_namespace_start(bring_back, &copy);
}
