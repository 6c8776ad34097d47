/* SPDX-License-Identifier: BSD-3-Clause */
/* Initialisation, locks, texts, enumerations and categories. */
#include "tool/tool.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "boot/process.h"
#include "engine/engine.h"
#include "engine/lock.h"
#include "tool/event.h"
#include "tool/meter.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int users;
_Thread_local bool mur_tool_is_restricted;

void mur_tool_lock(void)
{
    pthread_mutex_lock(&guard);
}

void mur_tool_unlock(void)
{
    pthread_mutex_unlock(&guard);
}

/* MPI may start to use its lock while a tool is inside; what was taken is given back, and nothing else. */
void mur_tool_lock_both(void)
{
    mur_engine_lock_any_time();
    pthread_mutex_lock(&guard);
}

void mur_tool_leave(void)
{
    pthread_mutex_unlock(&guard);
    mur_engine_unlock_any_time();
    if (atomic_load_explicit(&mur_lock.wanting, memory_order_relaxed))
        sched_yield(); /* a tool that asks all the time lets those that work go first */
}

int mur_tool_enter(void)
{
    if (mur_tool_is_restricted)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    mur_tool_lock_both();
    if (users)
        return MPI_SUCCESS;
    mur_tool_leave();
    return MPI_T_ERR_NOT_INITIALIZED;
}

/* Whether there are locks is decided here where tools come before MPI; several threads may, at once. */
static void prepare(int required)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    mur_settings_read();
    if (required == MPI_THREAD_MULTIPLE && !mur_engine.peer_count)
        mur_engine_share();
    pthread_mutex_unlock(&mutex);
}

int mur_tool_open(int required, int *provided)
{
    if (mur_tool_is_restricted)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    prepare(required);
    *provided = required == MPI_THREAD_MULTIPLE && !mur_lock_is_used() ? MPI_THREAD_SERIALIZED : required;
    mur_tool_lock_both();
    users++;
    mur_meters_setup();
    mur_tool_leave();
    return MPI_SUCCESS;
}

int mur_tool_close(void (*clear)(void))
{
    int rc = mur_tool_enter();

    if (rc)
        return rc;
    if (--users == 0)
        clear();
    mur_tool_leave();
    return MPI_SUCCESS;
}

bool mur_tool_tell(const char *text, char *out, int *length)
{
    if (!length)
        return true;
    if (*length < 0)
        return false;
    if (out && *length > 0)
        snprintf(out, (size_t)*length, "%s", text);
    *length = (int)strlen(text) + 1;
    return true;
}

/* ---- enumerations ---- */

#define ITEMS(items_) .count = sizeof(items_) / sizeof(items_)[0], .items = (items_)

static const struct mur_tool_item switch_items[] = {{0, "off"}, {1, "on"}};
static const struct mur_tool_item phase_items[] = {
    {MUR_PHASE_BEFORE_INIT, "not initialised"}, {MUR_PHASE_RUNNING, "running"}, {MUR_PHASE_FINALIZED, "finalized"}};
/* Of events: the names of their elements. */
static const struct mur_tool_item message_items[] = {{0, "rank"}, {1, "tag"}, {2, "bytes"}};
static const struct mur_tool_item hold_items[] = {{0, "process"}, {1, "is_held"}, {2, "bytes"}};
static const struct mur_tool_item collective_items[] = {{0, "kind"}, {1, "form"}};

const struct mur_tool_enum mur_tool_switch = {.name = "switch", ITEMS(switch_items)};
const struct mur_tool_enum mur_tool_phase = {.name = "phase", ITEMS(phase_items)};
const struct mur_tool_enum mur_tool_message = {.name = "message", ITEMS(message_items)};
const struct mur_tool_enum mur_tool_hold = {.name = "hold", ITEMS(hold_items)};
const struct mur_tool_enum mur_tool_collective = {.name = "collective", ITEMS(collective_items)};

const struct mur_tool_enum *mur_tool_enum_find(MPI_T_enum handle)
{
    static const struct mur_tool_enum *const all[] = {&mur_tool_switch, &mur_tool_phase, &mur_tool_message,
                                                      &mur_tool_hold, &mur_tool_collective};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (handle == mur_tool_enum_handle(all[i]))
            return all[i];
    return NULL;
}

/* ---- categories ---- */

const struct mur_tool_category mur_tool_categories[] = {
    [MUR_TOOL_ROOT] = {"murmur", "the whole library"},
    {"process", "this process: start and end, memory, what is printed"},
    {"engine", "progress and waiting"},
    {"pt2pt", "point-to-point messages"},
    {"shm", "shared memory between the ranks of a node"},
    {"tcp", "the network between nodes"},
    {"coll", "collective operations"},
    {"rma", "one-sided operations"},
    {"io", "files"},
};
_Static_assert(sizeof mur_tool_categories / sizeof mur_tool_categories[0] == MUR_TOOL_CATEGORIES, "all are counted");
