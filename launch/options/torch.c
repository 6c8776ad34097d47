/* SPDX-License-Identifier: BSD-3-Clause */
/* The place where the processes of PyTorch meet: the host of rank 0, and a port that rank 0 opens. */
#include "launch/options/torch.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"

/* A port that is free here now; rank 0 will open it. On another host it is as likely to be free as any. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
    socklen_t length = sizeof address;
    int port = 29500; /* PyTorch's own default */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return port;
    if (bind(fd, (struct sockaddr *)&address, length) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        port = ntohs(address.sin_port);
    close(fd);
    return port;
}

static bool is_given(const struct mur_jobspec *job, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < job->environment.count; i++)
        if (strncmp(job->environment.items[i], name, length) == 0 && job->environment.items[i][length] == '=')
            return true;
    return getenv(name) && *getenv(name);
}

void mur_torch_prepare(struct mur_jobspec *job)
{
    const char *host = job->hosts.count > 1 ? mur_jobspec_host(job, 0) : "127.0.0.1";

    if (!job->is_torch)
        return;
    if (!is_given(job, "MASTER_ADDR"))
        mur_assignments_add(&job->environment, mur_alloc_text("MASTER_ADDR=%s", host));
    if (!is_given(job, "MASTER_PORT"))
        mur_assignments_add(&job->environment, mur_alloc_text("MASTER_PORT=%d", free_port()));
}
