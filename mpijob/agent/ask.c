/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's side of protocol.h. It uses nothing of the launcher's, since it also lives in images of others. */
#include "mpijob/agent/protocol.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t written = send(fd, data, length, MSG_NOSIGNAL);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        data += written;
        length -= (size_t)written;
    }
    return 0;
}

static int send_header(int fd, struct mur_ask_header *header, const int fds[3])
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(3 * sizeof *fds)];
    } control = {0};
    struct iovec part = {header, sizeof *header};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(3 * sizeof *fds);
    memcpy(CMSG_DATA(rights), fds, 3 * sizeof *fds);
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *header ? 0 : -1;
}

int mur_ask_send(const char *path, const int fds[3], int count, char **words)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct mur_ask_header header = {MUR_ASK_MAGIC, 0};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(path) >= sizeof address.sun_path) {
        close(fd);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    for (int i = 0; i < count; i++)
        header.length += (uint32_t)strlen(words[i]) + 1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 || send_header(fd, &header, fds) < 0) {
        close(fd);
        return -1;
    }
    for (int i = 0; i < count; i++)
        if (write_all(fd, words[i], strlen(words[i]) + 1) < 0)
            break; /* the answer will not come either */
    return fd;
}

int mur_ask(const char *path, int count, char **words)
{
    static const int own[3] = {0, 1, 2};
    struct mur_ask_answer answer = {MUR_ASK_LOST};
    int fd = mur_ask_send(path, own, count, words);
    ssize_t got;

    if (fd < 0)
        return MUR_ASK_NOBODY;
    do
        got = recv(fd, &answer, sizeof answer, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    close(fd);
    return got == (ssize_t)sizeof answer ? answer.status : MUR_ASK_LOST;
}
