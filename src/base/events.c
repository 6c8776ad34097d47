/* SPDX-License-Identifier: BSD-3-Clause */
/* Nobody listens, until a tool does. */
#include "base/events.h"

#include <stddef.h>

uint32_t mur_events_wanted;
void (*mur_event_raise)(enum mur_event_kind kind, const void *object, const void *data) = NULL;
