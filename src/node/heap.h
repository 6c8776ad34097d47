/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for users that the other ranks of the node can reach: pieces of regions (node/region.h), of any size. The
 * engine's lock is held. */
#ifndef MUR_NODE_HEAP_H
#define MUR_NODE_HEAP_H

#include <stddef.h>

/* NULL: there is none to be shared. `alignment` is a power of two. */
void *mur_heap_get(size_t bytes, size_t alignment);
void mur_heap_put(void *memory);

#endif
