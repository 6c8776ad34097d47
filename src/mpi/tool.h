/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions of the tool information interface share. They return codes of MPI_T and call no error handler
 * (MPI-5.0 §15.3.10). */
#ifndef MUR_MPI_TOOL_H
#define MUR_MPI_TOOL_H

#include "tool/tool.h"

/* Returns from the calling function what MPI_T_... code the first failing condition stands for, leaving the locks. */
#define MUR_TOOL_NEED(condition, code)                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            mur_tool_leave();                                                                                          \
            return code;                                                                                               \
        }                                                                                                              \
    } while (0)

/* Ends a function that has entered. */
static inline int mur_tool_done(void)
{
    mur_tool_leave();
    return MPI_SUCCESS;
}

/* What the last user of the interface leaves behind (tool_control.c, tool_performance.c). */
void mur_tool_controls_clear(void);
void mur_tool_sessions_clear(void);

/* The control variables, by index. */
int mur_tool_control_count(void);
const char *mur_tool_control_part(int index);

#endif
