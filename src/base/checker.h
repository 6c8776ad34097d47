/* SPDX-License-Identifier: BSD-3-Clause */
/* Telling valgrind what it cannot see: memory that another process has written. Nothing where its header is not there
 * at build time; a few instructions otherwise. */
#ifndef MUR_BASE_CHECKER_H
#define MUR_BASE_CHECKER_H

#include <stddef.h>

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

static inline void mur_checker_defined(void *memory, size_t bytes)
{
#ifdef VALGRIND_MAKE_MEM_DEFINED
    (void)VALGRIND_MAKE_MEM_DEFINED(memory, bytes);
#else
    (void)memory;
    (void)bytes;
#endif
}

#endif
