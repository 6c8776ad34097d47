/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated profiling library has to tell. */
#ifndef MUR_TEST_INTERPOSE_H
#define MUR_TEST_INTERPOSE_H

extern const char *const interposed_names[];
extern const int interposed_count;
unsigned long interposed_calls(int i);

#endif
