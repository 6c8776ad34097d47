/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the tool information interface (MPI-5.0 §15.3): what there is to know and to set. The functions of the
 * interface, with their handles and sessions, are in src/mpi/tool*.c.
 *
 * Control variables are the rows of base/settings.c, performance variables those of base/counters.c and a few more
 * (tool/meter.h), events those of base/events.h (tool/event.h); categories are the parts of the library.
 *
 * A tool may use the interface before MPI_Init, after MPI_Finalize and from any thread, whatever MPI was told of
 * threads. So it has a lock of its own, taken after the engine's. */
#ifndef MUR_TOOL_TOOL_H
#define MUR_TOOL_TOOL_H

#include <stdbool.h>

#include "mpi.h"

/* One more user of the interface, or one less; both return an error code. The last one out calls `clear`. *provided is
 * the thread level that can be granted: a tool whose threads come at any time needs an MPI that takes its lock. It does
 * from then on, if it does not run yet. */
int mur_tool_open(int required, int *provided);
int mur_tool_close(void (*clear)(void));

/* Takes both locks, if the interface is initialised and the caller is not inside a callback that may not call it. */
int mur_tool_enter(void);
void mur_tool_lock_both(void);
void mur_tool_leave(void);

/* The tool's lock alone, for those who hold the engine's. */
void mur_tool_lock(void);
void mur_tool_unlock(void);

/* Set while this thread runs a callback that may only ask about its event. */
extern _Thread_local bool mur_tool_is_restricted;

/* Gives a text to the user: into `out` where it fits in *length bytes, cut where not; *length becomes what is needed.
 * Both may be NULL. False: *length is negative. */
bool mur_tool_tell(const char *text, char *out, int *length);

/* ---- enumerations ---- */

struct mur_tool_enum {
    const char *name;
    int count;
    const struct mur_tool_item {
        int value;
        const char *name;
    } * items;
};
extern const struct mur_tool_enum mur_tool_switch, mur_tool_phase, mur_tool_message, mur_tool_hold, mur_tool_collective;

/* NULL where the handle is none of them. */
const struct mur_tool_enum *mur_tool_enum_find(MPI_T_enum handle);
static inline MPI_T_enum mur_tool_enum_handle(const struct mur_tool_enum *enumeration)
{
    return (MPI_T_enum)(void *)enumeration;
}

/* ---- categories: a part each, and one above all ---- */

struct mur_tool_category {
    const char *name, *description;
};
extern const struct mur_tool_category mur_tool_categories[];
enum { MUR_TOOL_CATEGORIES = 9, MUR_TOOL_ROOT = 0 };

#endif
