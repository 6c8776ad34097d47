/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks lose their local snapshots together: those that write to the same directory of the same host, a place. */
#ifndef MUR_LIBMURMUR_PLACE_H
#define MUR_LIBMURMUR_PLACE_H

#include <mpi.h>
#include <stdbool.h>

struct mur_places {
    int rank, ranks, places;
    int *place; /* of each rank: places are numbered by their lowest ranks */
    int *index; /* of each rank among those of its place */
    int *size;  /* of each place */
};

/* Collective. False: there is no memory. */
bool mur_places_find(struct mur_places *places, const char *directory, MPI_Comm comm);
void mur_places_free(struct mur_places *places);

/* The rank of a place that has this index there. */
int mur_places_rank(const struct mur_places *places, int place, int index);

/* Whether this rank does what is done once in its place. */
static inline bool mur_places_is_first(const struct mur_places *places)
{
    return places->index[places->rank] == 0;
}

#endif
