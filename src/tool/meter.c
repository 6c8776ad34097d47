/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of meters: the table of counters, how often each algorithm of collectives was used, and what other parts of
 * the library can tell. Indices never change. */
#include "tool/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "boot/process.h"
#include "coll/algorithms.h"
#include "match/match.h"
#include "object/comm.h"
#include "object/context.h"

struct mur_meter *mur_meters;
int mur_meter_count;

static uint64_t read_counter(const struct mur_meter *meter, const struct mur_comm *comm, int i)
{
    (void)comm;
    return mur_counter_at(meter->counter->offset)[i];
}

static uint64_t read_algorithm(const struct mur_meter *meter, const struct mur_comm *comm, int i)
{
    (void)comm;
    (void)i;
    return mur_algorithm_uses[meter->algorithm];
}

static uint64_t read_phase(const struct mur_meter *meter, const struct mur_comm *comm, int i)
{
    (void)meter;
    (void)comm;
    (void)i;
    return mur_process.phase;
}

static uint64_t read_arena_used(const struct mur_meter *meter, const struct mur_comm *comm, int i)
{
    (void)meter;
    (void)comm;
    (void)i;
    return mur_arena.used;
}

static uint64_t read_arena_bytes(const struct mur_meter *meter, const struct mur_comm *comm, int i)
{
    (void)meter;
    (void)comm;
    (void)i;
    return mur_arena.bytes;
}

static uint64_t read_comm_collectives(const struct mur_meter *meter, const struct mur_comm *comm, int i)
{
    (void)meter;
    (void)i;
    return comm->collectives;
}

static uint64_t read_comm_unexpected(const struct mur_meter *meter, const struct mur_comm *comm, int i)
{
    (void)meter;
    (void)i;
    return mur_match_count(comm->context);
}

static const struct mur_meter others[] = {
    {"phase", "process", "", "whether MPI runs", MPI_T_PVAR_CLASS_STATE, MPI_T_VERBOSITY_USER_BASIC,
     MPI_T_BIND_NO_OBJECT, 1, &mur_tool_phase, NULL, 0, read_phase},
    {"object_bytes", "process", "bytes", "memory that pools of MPI objects have taken", MPI_T_PVAR_CLASS_LEVEL,
     MPI_T_VERBOSITY_TUNER_DETAIL, MPI_T_BIND_NO_OBJECT, 1, NULL, NULL, 0, read_arena_used},
    {"object_bytes_reserved", "process", "bytes", "addresses that are reserved for MPI objects", MPI_T_PVAR_CLASS_SIZE,
     MPI_T_VERBOSITY_MPIDEV_DETAIL, MPI_T_BIND_NO_OBJECT, 1, NULL, NULL, 0, read_arena_bytes},
    {"comm_collectives", "coll", "", "collective operations on a communicator", MPI_T_PVAR_CLASS_COUNTER,
     MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_MPI_COMM, 1, NULL, NULL, 0, read_comm_collectives},
    {"comm_unexpected_length", "pt2pt", "", "messages on a communicator that wait for their receive now",
     MPI_T_PVAR_CLASS_LEVEL, MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_MPI_COMM, 1, NULL, NULL, 0, read_comm_unexpected},
};

static int class_of(const struct mur_counter *counter)
{
    switch (counter->class) {
    case MUR_LEVEL:
        return MPI_T_PVAR_CLASS_LEVEL;
    case MUR_PEAK:
        return MPI_T_PVAR_CLASS_HIGHWATERMARK;
    case MUR_TIMER:
        return MPI_T_PVAR_CLASS_TIMER;
    default:
        return *counter->unit ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER;
    }
}

static struct mur_meter of_counter(const struct mur_counter *counter)
{
    return (struct mur_meter){.name = counter->name,
                              .part = counter->part,
                              .unit = counter->unit,
                              .description = counter->meaning,
                              .pvar_class = class_of(counter),
                              .verbosity = strcmp(counter->part, "engine") ? MPI_T_VERBOSITY_USER_BASIC
                                                                           : MPI_T_VERBOSITY_TUNER_BASIC,
                              .bind = MPI_T_BIND_NO_OBJECT,
                              .count = counter->count ? counter->count : 1,
                              .counter = counter,
                              .read = read_counter};
}

static struct mur_meter of_algorithm(size_t row, char *name, char *description, size_t bytes)
{
    const char *kind = mur_collective_name(mur_algorithms[row].kind);

    snprintf(name, bytes, "%s_%s", kind, mur_algorithms[row].name);
    snprintf(description, bytes, "times that %s was made of messages by the algorithm %s", kind,
             mur_algorithms[row].name);
    return (struct mur_meter){.name = name,
                              .part = "coll",
                              .unit = "",
                              .description = description,
                              .pvar_class = MPI_T_PVAR_CLASS_COUNTER,
                              .verbosity = MPI_T_VERBOSITY_TUNER_DETAIL,
                              .bind = MPI_T_BIND_NO_OBJECT,
                              .count = 1,
                              .algorithm = row,
                              .read = read_algorithm};
}

/* Without memory there are no meters, this time. */
void mur_meters_setup(void)
{
    enum { TEXT_BYTES = 128 };
    const size_t other_count = sizeof others / sizeof others[0];
    char(*texts)[TEXT_BYTES];

    if (mur_meters)
        return;
    mur_meters = calloc(mur_counter_count + other_count + mur_algorithm_count, sizeof *mur_meters);
    texts = calloc(mur_algorithm_count * 2, sizeof *texts);
    if (!mur_meters || !texts) {
        free(mur_meters);
        free(texts);
        mur_meters = NULL;
        return;
    }
    for (size_t i = 0; i < mur_counter_count; i++)
        mur_meters[mur_meter_count++] = of_counter(&mur_counter_table[i]);
    for (size_t i = 0; i < other_count; i++)
        mur_meters[mur_meter_count++] = others[i];
    for (size_t i = 0; i < mur_algorithm_count; i++)
        mur_meters[mur_meter_count++] = of_algorithm(i, texts[2 * i], texts[2 * i + 1], TEXT_BYTES);
}

MPI_Datatype mur_meter_datatype(const struct mur_meter *meter)
{
    return meter->enumeration                            ? MPI_INT
           : meter->pvar_class == MPI_T_PVAR_CLASS_TIMER ? MPI_DOUBLE
                                                         : MPI_UNSIGNED_LONG_LONG;
}
