/* SPDX-License-Identifier: BSD-3-Clause */
/* Pretended nodes are for tests and measurements of what happens between nodes, on one machine: ranks on different ones
 * reach each other over the network only. They divide the job's real nodes, so that ranks of two hosts never meet. */
#include "boot/nodes.h"

#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "boot/job.h"
#include "mpi.h"

/* A number from 1 on at *text, which then points behind it; 0: there is none. */
static int number(const char **text)
{
    char *end;
    long value = **text >= '0' && **text <= '9' ? strtol(*text, &end, 10) : 0;

    if (value < 1 || value > INT_MAX)
        return 0;
    *text = end;
    return (int)value;
}

static bool deal(const char *text, int size, int *node_of)
{
    int nodes = number(&text);

    for (int i = 0; nodes && i < size; i++)
        node_of[i] = i % nodes;
    return nodes && !*text;
}

bool mur_nodes_parse(const char *text, int size, int *node_of)
{
    const char *at = text;
    int filled = 0, node = 0;

    if (*text == '*')
        return deal(text + 1, size, node_of);
    for (;;) {
        int ranks = number(&at);

        if (!ranks)
            return false;
        for (int i = 0; i < ranks && filled < size; i++)
            node_of[filled++] = node;
        node++;
        if (*at == ',')
            at++;
        else if (*at)
            return false;
        else if (filled == size)
            return true;
        else
            at = text;
    }
}

int mur_nodes_setup(void)
{
    const char *text = getenv("MUR_NODES");
    const int32_t *real = mur_process.job->node_of;
    int size = mur_process.size, *pretended;

    mur_process.node_of = real;
    if (!text || !*text || size == 1)
        return MPI_SUCCESS;
    pretended = malloc((size_t)size * sizeof *pretended);
    if (!pretended)
        return mur_error(MPI_ERR_NO_MEM, "no memory for the nodes of %d ranks", size);
    if (!mur_nodes_parse(text, size, pretended)) {
        free(pretended);
        return mur_error(MPI_ERR_OTHER,
                         "MUR_NODES is '%s', but must be numbers of ranks, one for each node, as in '2,1,4', or a "
                         "number of nodes that ranks are dealt to in turns, as in '*3'",
                         text);
    }
    for (int i = 0; i < size; i++)
        pretended[i] = (int)((unsigned)real[i] * (unsigned)size + (unsigned)pretended[i]);
    mur_process.node_of = pretended;
    return MPI_SUCCESS;
}
