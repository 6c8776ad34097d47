/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of the world are on one node; with MUR_NODES, nodes that are only pretended. */
#ifndef MUR_BOOT_NODES_H
#define MUR_BOOT_NODES_H

#include "boot/process.h"

/* Sets mur_process.node_of from the job, and divides the nodes further where MUR_NODES asks for it. */
int mur_nodes_setup(void);

/* Parses what MUR_NODES says: "3,1,4" are so many ranks on the first, second and third node, and again from the start
 * until all have one; "*3" deals them to three nodes in turns. False: it says neither. */
bool mur_nodes_parse(const char *text, int size, int *node_of);

#endif
