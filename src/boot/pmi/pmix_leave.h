/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaving a PMIx server so that it notices. */
#ifndef MUR_BOOT_PMI_PMIX_LEAVE_H
#define MUR_BOOT_PMI_PMIX_LEAVE_H

/* Before PMIx_Finalize: another descriptor of the connection to the server; -1: none was found. */
int mur_pmix_leave_begin(void);

/* After it: waits until the server has closed its side, and gives the descriptor up. */
void mur_pmix_leave_end(int copy);

#endif
