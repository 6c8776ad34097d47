/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: memory that every rank of the node can map, by its token (mur_node_map). What windows and MPI_Alloc_mem give
 * out lies in regions, so others can load from it and store to it without a system call: they are told its address, and
 * find it in a mapping of their own.
 *
 * Each process keeps a table of the regions that it has mapped, its own and those of others. Tokens are never used
 * twice, so a mapping never comes to mean something else; others' regions that nobody uses are unmapped when they are
 * many. The engine's lock is held. */
#ifndef MUR_NODE_REGION_H
#define MUR_NODE_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where memory lies, in words that mean the same to all ranks of the node. */
struct mur_region_address {
    uint64_t token; /* 0: nowhere that others could reach */
    uint64_t bytes; /* of the region */
    uint64_t offset;
};

/* New memory, all zero, on pages of its own; NULL: there is none that could be shared. */
void *mur_region_make(size_t bytes);

/* Gives it back. Others may have it mapped still, but do not look at it any more. */
void mur_region_discard(void *memory);

/* Memory inside of one that will not be read before it is written: the system may have it meanwhile. */
void mur_region_empty(const void *memory, size_t bytes);

/* Memory that somebody else has mapped (mur_node_map), who also unmaps it, but tells it first. Without memory for a
 * row of the table, others just do not find it. */
void mur_region_add(void *memory, size_t bytes, uint64_t token);
void mur_region_remove(const void *memory);

/* The address of memory that lies in one region from end to end. */
bool mur_region_find(const void *memory, size_t bytes, struct mur_region_address *address);

/* Where this process finds an address, for now: the latest few stay mapped. NULL: it cannot be mapped. */
void *mur_region_reach(const struct mur_region_address *address);

/* The same for as long as it is kept. */
void *mur_region_keep(const struct mur_region_address *address);
void mur_region_release(uint64_t token);

#endif
