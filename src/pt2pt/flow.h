/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow control: what a rank keeps of messages that nobody has asked for yet is bounded for each sender. */
#ifndef MUR_PT2PT_FLOW_H
#define MUR_PT2PT_FLOW_H

#include "match/match.h"

void mur_flow_setup(void);

/* A message from the peer is kept, or no longer. */
void mur_flow_keep(struct mur_peer *peer, const struct mur_frame *frame);
void mur_flow_free(struct mur_peer *peer, const struct mur_frame *frame);

#endif
