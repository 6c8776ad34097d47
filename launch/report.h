/* SPDX-License-Identifier: BSD-3-Clause */
/* What users read when a job starts under -verbose and when it fails. */
#ifndef MUR_LAUNCH_REPORT_H
#define MUR_LAUNCH_REPORT_H

#include "launch/frame.h"
#include "launch/jobspec.h"

void mur_report_start(const struct mur_jobspec *job);
void mur_report_failure(const struct mur_jobspec *job, const struct mur_tree_frame *failure, int ended);
const char *mur_report_signal(int signal); /* "SIGKILL"; the text is valid until the next call */
int mur_report_exit_code(const struct mur_tree_frame *failure);

#endif
