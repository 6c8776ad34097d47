/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be measured: the performance variables. A meter gives one or more values as 64-bit words, read where they
 * are counted. */
#ifndef MUR_TOOL_METER_H
#define MUR_TOOL_METER_H

#include <stdint.h>

#include "base/counters.h"
#include "mpi.h"
#include "tool/tool.h"

struct mur_comm;

struct mur_meter {
    const char *name, *part, *unit, *description;
    int pvar_class;                          /* MPI_T_PVAR_CLASS_... */
    int verbosity;                           /* MPI_T_VERBOSITY_... */
    int bind;                                /* MPI_T_BIND_NO_OBJECT or _MPI_COMM */
    int count;                               /* of values */
    const struct mur_tool_enum *enumeration; /* of a state; else NULL */
    const struct mur_counter *counter;       /* the row that it shows; or NULL */
    size_t algorithm;                        /* whose uses it shows */
    uint64_t (*read)(const struct mur_meter *meter, const struct mur_comm *comm, int i);
};
extern struct mur_meter *mur_meters;
extern int mur_meter_count;

/* Makes the list, once; the tool's lock is held. */
void mur_meters_setup(void);

/* As users see it. */
MPI_Datatype mur_meter_datatype(const struct mur_meter *meter);

/* Counts, sums and times add up from start to stop; the others show what is, always. */
static inline int mur_meter_is_sum(const struct mur_meter *meter)
{
    return meter->pvar_class == MPI_T_PVAR_CLASS_COUNTER || meter->pvar_class == MPI_T_PVAR_CLASS_AGGREGATE ||
           meter->pvar_class == MPI_T_PVAR_CLASS_TIMER;
}

static inline int mur_meter_is_peak(const struct mur_meter *meter)
{
    return meter->pvar_class == MPI_T_PVAR_CLASS_HIGHWATERMARK;
}

static inline int mur_meter_is_continuous(const struct mur_meter *meter)
{
    return !mur_meter_is_sum(meter) && !mur_meter_is_peak(meter);
}

#endif
