/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said on the socket of a run, by the agent in a pod and by the commands of mpijob.
 *
 * The caller sends one message: a header, and with it its standard input, output and error as descriptors; then the
 * words, each with a zero byte behind it. The run answers with one status when all is done. A caller that hangs up has
 * what it asked for killed. */
#ifndef MUR_MPIJOB_PROTOCOL_H
#define MUR_MPIJOB_PROTOCOL_H

#include <stdint.h>

#define MUR_ASK_MAGIC   0x6d6a3031u
#define MUR_ASK_LONGEST 1048576 /* bytes of words */

struct mur_ask_header {
    uint32_t magic, length;
};
struct mur_ask_answer {
    int32_t status; /* an exit code, or one of those below */
};

#define MUR_ASK_NOT_RUNNING (-1) /* the pod does not run yet: another try may find it */
#define MUR_ASK_NOBODY      (-2) /* nobody is at the socket */
#define MUR_ASK_LOST        (-3) /* whoever was there has gone without an answer */

/* Sends the words, and descriptors, to the socket at `path`. Returns the connection, on which an answer will come, or
 * -1 if nobody is there. */
int mur_ask_send(const char *path, const int fds[3], int count, char **words);
/* Sends them with this process's own descriptors, and waits. Returns the status; below 0 it is one of the above. */
int mur_ask(const char *path, int count, char **words);

#endif
