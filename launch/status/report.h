/* SPDX-License-Identifier: BSD-3-Clause */
/* A sample as people read it, and as programs do. */
#ifndef MUR_LAUNCH_STATUS_REPORT_H
#define MUR_LAUNCH_STATUS_REPORT_H

#include "launch/status/sample.h"

/* Both return a text that the caller frees. The first is a table, in which ranks of the same state share a line, and
 * what stands out; the second is a JSON object on one line. */
char *mur_status_text(const struct mur_sample *sample);
char *mur_status_json(const struct mur_sample *sample);

#endif
