/* SPDX-License-Identifier: BSD-3-Clause */
#include "boot/look.h"

#include "boot/calls.h"

struct mur_look mur_look = {.form = MUR_LOOK_FORM, .calls = MUR_CALLS_VERSION, .bytes = sizeof mur_look};
