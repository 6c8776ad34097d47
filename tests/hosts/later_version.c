/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake of a later version of Murmur; the rest of mpiexec is linked with it for a test. */
#include "base/handshake.h"

#define MUR_WIRE_PROTOCOL 1000
#include "base/handshake.c"
