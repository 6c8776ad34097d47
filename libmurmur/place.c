/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmurmur/place.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmurmur/hash.h"

static uint64_t name_of_place(const char *directory)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "", text[MPI_MAX_PROCESSOR_NAME + PATH_MAX + 2];
    int length, bytes;

    MPI_Get_processor_name(host, &length);
    bytes = snprintf(text, sizeof text, "%s:%s", host, directory);
    return XXH3_64bits(text, (size_t)bytes < sizeof text ? (size_t)bytes : sizeof text - 1);
}

bool mur_places_find(struct mur_places *places, const char *directory, MPI_Comm comm)
{
    uint64_t own = name_of_place(directory), *names;

    *places = (struct mur_places){0};
    MPI_Comm_rank(comm, &places->rank);
    MPI_Comm_size(comm, &places->ranks);
    names = calloc((size_t)places->ranks, sizeof *names);
    places->place = calloc((size_t)places->ranks, sizeof(int));
    places->index = calloc((size_t)places->ranks, sizeof(int));
    places->size = calloc((size_t)places->ranks, sizeof(int));
    if (!names || !places->place || !places->index || !places->size) {
        free(names);
        return false;
    }
    MPI_Allgather(&own, 1, MPI_UINT64_T, names, 1, MPI_UINT64_T, comm);
    for (int i = 0; i < places->ranks; i++) {
        int first = 0;

        while (names[first] != names[i])
            first++;
        places->place[i] = first == i ? places->places++ : places->place[first];
        places->index[i] = places->size[places->place[i]]++;
    }
    free(names);
    return true;
}

void mur_places_free(struct mur_places *places)
{
    free(places->place);
    free(places->index);
    free(places->size);
    *places = (struct mur_places){0};
}

int mur_places_rank(const struct mur_places *places, int place, int index)
{
    int rank = 0;

    while (places->place[rank] != place || places->index[rank] != index)
        rank++;
    return rank;
}
