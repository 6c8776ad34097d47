/* SPDX-License-Identifier: BSD-3-Clause */
/* xxHash, as a part of this library: so it needs no other one at run time. */
#ifndef MUR_LIBMURMUR_HASH_H
#define MUR_LIBMURMUR_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#endif
