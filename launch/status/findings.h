/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands out in a sample: circles, the rank that others wait for, stopped processes, locks that are held. */
#ifndef MUR_LAUNCH_STATUS_FINDINGS_H
#define MUR_LAUNCH_STATUS_FINDINGS_H

#include "launch/status/sample.h"

struct mur_status_finding {
    const char *kind; /* for programs: "circle", "late", "stopped", "lock", "message", "awaited" */
    int *ranks;       /* that it is about; of a circle in its order */
    int count;
    char *text; /* a sentence without its end */
};

struct mur_status_findings {
    struct mur_status_finding *items;
    int count;
};

void mur_findings_make(struct mur_status_findings *findings, const struct mur_sample *sample);
void mur_findings_free(struct mur_status_findings *findings);

#endif
