/* SPDX-License-Identifier: BSD-3-Clause */
#include "rma/way.h"

#include "rma/mailbox.h"

enum { BY_COPIES = 1 << MUR_WAY_COPIES, BY_LOADS = 1 << MUR_WAY_LOADS };

/* In the order in which they are tried; each may still refuse. */
static const struct {
    unsigned reached;   /* how the target's memory is */
    size_t least, most; /* bytes of data */
    bool (*perform)(const struct mur_rma_arguments *arguments, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                    size_t bytes, int *rc);
} ways[] = {
    {BY_COPIES, 0, MUR_MAILBOX_DATA, mur_rma_assist},                    /* the target, instead of a system call */
    {BY_COPIES | BY_LOADS, MUR_WAY_SHARED_MIN, SIZE_MAX, mur_rma_joint}, /* both, if the target sees both buffers */
    {BY_COPIES, 192 << 10, SIZE_MAX, mur_rma_share},                     /* both, by copies of the kernel */
};

bool mur_way_with_target(const struct mur_rma_arguments *a, enum mur_rma_kind kind, const struct mur_rma_leaf *leaf,
                         size_t bytes, int *rc)
{
    unsigned reached = 1u << a->win->targets[a->rank].way;

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (ways[i].reached & reached && bytes >= ways[i].least && bytes <= ways[i].most &&
            ways[i].perform(a, kind, leaf, bytes, rc))
            return true;
    return false;
}
