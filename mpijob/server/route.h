/* SPDX-License-Identifier: BSD-3-Clause */
/* From the path and method of a request to what it asks for. */
#ifndef MUR_MPIJOB_ROUTE_H
#define MUR_MPIJOB_ROUTE_H

#include "mpijob/server/server.h"

/* Owns the texts that a request points to. */
struct mur_route {
    char *text, *parts[8];
    int count;
};

/* False, with a reply, if there is no such thing. */
bool mur_route_find(struct mur_route *route, const char *path, const char *method, struct mur_api_request *request,
                    struct mur_reply *reply);
void mur_route_free(struct mur_route *route);
void mur_route_tabulate(const struct mur_api_request *request, struct mur_reply *reply); /* its body becomes a table */

#endif
