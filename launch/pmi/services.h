/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks ask by PMI beyond their own job: names of services, and further jobs. Calls of the PMI server
 * (pmi/server.h), whose owner is a struct mur_pmi_rank. */
#ifndef MUR_LAUNCH_PMI_SERVICES_H
#define MUR_LAUNCH_PMI_SERVICES_H

#include "launch/pmi/server.h"

void mur_pmi_publish(void *owner, const char *service, const char *port, uint32_t ticket);
void mur_pmi_unpublish(void *owner, const char *service, uint32_t ticket);
void mur_pmi_lookup(void *owner, const char *service, uint32_t ticket);
void mur_pmi_spawn(void *owner, const struct mur_pmi_server_spawn *spawn, uint32_t ticket);

#endif
