/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP, by libmicrohttpd in the one thread: requests in, answers out, and answers that go on (mpijob/http/). */
#ifndef MUR_MPIJOB_HTTP_H
#define MUR_MPIJOB_HTTP_H

#include <sys/types.h>

#include "mpijob/http/stream.h"
#include "mpijob/server/server.h"

/* Listens at "HOST:PORT" with a certificate and its key, as PEM texts; ends the program if that does not work. Returns
 * the port. */
int mur_http_start(const char *address, const char *certificate, const char *key);
void mur_http_stop(void);
int mur_http_descriptor(void); /* readable: there is something for mur_http_step */
double mur_http_due(void);     /* seconds until there is something without that; -1: nothing */
void mur_http_step(double now);

/* watch.c, log.c: a stream that answers the request, or NULL with a reply. */
struct mur_http_stream *mur_watch_open(const struct mur_api_request *request, struct mur_reply *reply);
struct mur_http_stream *mur_log_open(const struct mur_api_request *request, struct mur_reply *reply);
extern const char *mur_server_folder; /* where the node keeps its pods: see mpijob/node/ */

/* exec.c: a command in a pod. The connection becomes a socket on which one of two protocols is spoken. */
struct mur_exec;
struct mur_exec *mur_exec_open(const struct mur_api_request *request, struct mur_reply *reply);
const char *mur_exec_header(const struct mur_exec *exec, int number,
                            const char **value); /* of the answer; NULL: none */
void mur_exec_add_word(struct mur_exec *exec, const char *word);
/* The process that serves it; closes the socket here. */
pid_t mur_exec_start(struct mur_exec *exec, int socket, const char *extra, size_t length);
void mur_exec_free(struct mur_exec *exec);
bool mur_http_reap(pid_t pid); /* one of those processes has ended */

#endif
