/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule keeps the first of its errors, and the first of its flaws: what comes later is mostly a consequence. */
#include <stdio.h>
#include <stdlib.h>

#include "coll/schedule/schedule.h"

static void expect(const char *what, int code, int wanted)
{
    if (code == wanted)
        return;
    fprintf(stderr, "%s is %d, but %d was first\n", what, code, wanted);
    exit(1);
}

int main(void)
{
    static struct mur_schedule schedule;

    mur_schedule_fail(&schedule, MPI_SUCCESS);
    expect("the error", schedule.error, MPI_SUCCESS);
    mur_schedule_fail(&schedule, MPI_ERR_TRUNCATE);
    mur_schedule_fail(&schedule, MPI_ERR_OTHER);
    mur_schedule_fail(&schedule, MPI_SUCCESS);
    expect("the error", schedule.error, MPI_ERR_TRUNCATE);
    mur_schedule_mar(&schedule, MPI_ERR_COUNT);
    mur_schedule_mar(&schedule, MPI_ERR_TYPE);
    mur_schedule_mar(&schedule, MPI_SUCCESS);
    expect("the flaw", schedule.flaw, MPI_ERR_COUNT);
    return 0;
}
