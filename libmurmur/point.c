/* SPDX-License-Identifier: BSD-3-Clause */
/* When snapshots are taken and restored: MPIX_Ckpt_point and its kin. Rank 0 decides what is due, so that clocks need
 * not agree. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmurmur/global.h"
#include "libmurmur/local.h"
#include "libmurmur/murmur.h"
#include "libmurmur/data_region.h"
#include "libmurmur/snapshots.h"

static struct {
    struct mur_ckpt_settings settings;
    struct mur_places places;
    MPI_Comm comm; /* a copy of the program's, or MPI_COMM_NULL: nothing is set up */
    int rank;
    int64_t next, newest; /* the version to write next; the last one */
    double last;          /* when, by MPI_Wtime */
    bool has_restored;    /* or there was nothing to restore */
    bool has_warned;
} state = {.comm = MPI_COMM_NULL, .newest = -1};

static volatile sig_atomic_t is_asked;

static void ask(int number)
{
    (void)number;
    is_asked = 1;
}

/* ---- life ---- */

/* Called by MPI_Finalize, through an attribute of MPI_COMM_SELF (MPI-5.0 chapter 11.2.4). */
static int clean_up(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    MPI_Comm_free(&state.comm);
    mur_places_free(&state.places);
    for (int i = 0; i < mur_data_regions.count; i++)
        MPI_Type_free(&mur_data_regions.at[i].datatype);
    free(mur_data_regions.at);
    mur_data_regions = (struct mur_data_regions){NULL, 0};
    return MPI_SUCCESS;
}

static int64_t highest(const char *directory)
{
    int count = 0;
    int64_t *versions = directory ? mur_snapshots_list(directory, &count) : NULL, found = count ? versions[0] : -1;

    free(versions);
    return found;
}

/* All ranks must have the same settings but for the local directory, which may differ from host to host. */
static void compare_settings(struct mur_flaw *flaw)
{
    const struct mur_ckpt_settings *own = &state.settings;
    const int64_t mine[] = {own->prefix != NULL, own->local != NULL, own->restart, own->redundancy,
                            own->group,          own->flush,         own->keep,    mur_data_regions.count};
    int64_t least[sizeof mine / sizeof mine[0]], most[sizeof mine / sizeof mine[0]];

    MPI_Allreduce(mine, least, sizeof mine / sizeof mine[0], MPI_INT64_T, MPI_MIN, state.comm);
    MPI_Allreduce(mine, most, sizeof mine / sizeof mine[0], MPI_INT64_T, MPI_MAX, state.comm);
    if (memcmp(least, most, sizeof least) != 0)
        mur_flaw_set(flaw, "the settings MUR_CKPT_... or the number of registered regions differ from rank to rank");
}

static void set_up(MPI_Comm comm, struct mur_flaw *flaw)
{
    struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART};
    int keyval;

    MPI_Comm_dup(comm, &state.comm);
    MPI_Comm_set_errhandler(state.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(state.comm, &state.rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    MPI_Comm_free_keyval(&keyval);
    mur_ckpt_settings_read(&state.settings, flaw);
    if (!mur_flaw_agree(flaw, state.comm))
        return;
    compare_settings(flaw);
    if (!mur_places_find(&state.places, state.settings.local ? state.settings.local : "", state.comm))
        mur_flaw_set(flaw, "there is no memory for a snapshot");
    state.next = highest(state.settings.local) + 1;
    if (state.rank == 0 && highest(state.settings.prefix) >= state.next)
        state.next = highest(state.settings.prefix) + 1;
    MPI_Allreduce(MPI_IN_PLACE, &state.next, 1, MPI_INT64_T, MPI_MAX, state.comm);
    state.last = MPI_Wtime();
    if (state.settings.signal && sigaction(state.settings.signal, &action, NULL) != 0)
        mur_flaw_set(flaw, "MUR_CKPT_SIGNAL: signal %d cannot be handled: %s", state.settings.signal, strerror(errno));
    mur_flaw_agree(flaw, state.comm);
}

static bool has_place(void)
{
    return getenv("MUR_CKPT_PREFIX") || getenv("MUR_CKPT_LOCAL");
}

/* Sets up at the first call. False: it has failed, and *code is the error that was raised. */
static bool is_ready(MPI_Comm comm, int *code)
{
    struct mur_flaw flaw = {0};
    int result;

    if (state.comm == MPI_COMM_NULL) {
        set_up(comm, &flaw);
        if (flaw.text[0])
            *code = mur_flaw_raise(&flaw, comm, MPI_ERR_ARG);
        return !flaw.text[0];
    }
    MPI_Comm_compare(comm, state.comm, &result);
    if (result == MPI_IDENT || result == MPI_CONGRUENT)
        return true;
    mur_flaw_set(&flaw, "snapshots: this communicator has another group than that of the first call");
    *code = mur_flaw_raise(&flaw, comm, MPI_ERR_COMM);
    return false;
}

/* ---- saving ---- */

static bool save(struct mur_flaw *flaw)
{
    const struct mur_ckpt_settings *settings = &state.settings;
    const int64_t version = state.next++;
    bool is_saved = true;

    if (settings->local)
        is_saved = mur_local_save(settings, &state.places, version, state.comm, flaw);
    if (is_saved && settings->prefix && (!settings->local || version % settings->flush == 0))
        is_saved = mur_global_save(settings, version, state.comm, flaw);
    if (is_saved)
        state.newest = version;
    state.last = MPI_Wtime();
    return is_saved;
}

int MPIX_Ckpt_save(MPI_Comm comm)
{
    struct mur_flaw flaw = {0};
    int code = MPI_SUCCESS;

    if (!has_place()) {
        mur_flaw_set(&flaw, "MPIX_Ckpt_save: neither MUR_CKPT_PREFIX nor MUR_CKPT_LOCAL says where to");
        return mur_flaw_raise(&flaw, comm, MPI_ERR_ARG);
    }
    if (!is_ready(comm, &code) || save(&flaw))
        return code;
    return mur_flaw_raise(&flaw, comm, MPI_ERR_IO);
}

/* What cannot be written is no reason to stop. */
static void save_if_due(void)
{
    struct mur_flaw flaw = {0};
    int is_due;

    if (state.settings.interval <= 0 && !state.settings.signal)
        return;
    is_due = is_asked || (state.settings.interval > 0 && MPI_Wtime() - state.last >= state.settings.interval);
    MPI_Bcast(&is_due, 1, MPI_INT, 0, state.comm);
    if (!is_due)
        return;
    is_asked = 0;
    if (!save(&flaw) && state.rank == 0 && !state.has_warned) {
        fprintf(stderr, "Murmur: a snapshot cannot be written, and the job goes on without it: %s\n", flaw.text);
        state.has_warned = true;
    }
}

/* ---- restoring ---- */

static bool restore_version(int64_t version, struct mur_flaw *flaw)
{
    const struct mur_ckpt_settings *settings = &state.settings;
    struct mur_flaw of_local = {0};

    if (settings->local && mur_local_restore(settings, &state.places, version, state.comm, &of_local))
        return true;
    if (settings->prefix && mur_global_restore(settings, version, state.comm, flaw))
        return true;
    if (settings->local)
        *flaw = of_local;
    return false;
}

/* The newest version below a limit that any rank knows of; -1: none. */
static int64_t newest_below(int64_t limit)
{
    const char *const directories[] = {state.settings.local, state.rank == 0 ? state.settings.prefix : NULL};
    int64_t found = -1;

    for (int i = 0; i < 2; i++) {
        int count = 0;
        int64_t *versions = directories[i] ? mur_snapshots_list(directories[i], &count) : NULL;

        for (int j = 0; j < count; j++)
            if (versions[j] < limit && versions[j] > found)
                found = versions[j];
        free(versions);
    }
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT64_T, MPI_MAX, state.comm);
    return found;
}

/* True: a snapshot is restored, or there is none, and none was named. */
static bool restore_latest(struct mur_flaw *flaw)
{
    struct mur_flaw first = {0};

    for (int64_t version = newest_below(INT64_MAX); version >= 0; version = newest_below(version)) {
        struct mur_flaw next = {0};

        if (restore_version(version, &next)) {
            if (state.rank == 0 && first.text[0])
                fprintf(stderr, "Murmur: snapshot %lld is restored, since a newer one cannot be: %s\n",
                        (long long)version, first.text);
            state.newest = version;
            return true;
        }
        if (!first.text[0])
            mur_flaw_set(&first, "snapshot %lld: %.500s", (long long)version, next.text);
    }
    if (first.text[0])
        *flaw = first;
    return !first.text[0];
}

static bool restore(struct mur_flaw *flaw)
{
    struct mur_flaw why = {0};

    if (state.settings.restart == MUR_RESTART_LATEST)
        return restore_latest(flaw);
    if (restore_version(state.settings.restart, &why)) {
        state.newest = state.settings.restart;
        return true;
    }
    return mur_flaw_set(flaw, "snapshot %lld: %.500s", (long long)state.settings.restart, why.text);
}

int MPIX_Ckpt_point(MPI_Comm comm, int *is_restarted)
{
    struct mur_flaw flaw = {0};
    int code = MPI_SUCCESS;

    *is_restarted = 0;
    if (!has_place())
        return MPI_SUCCESS;
    if (!is_ready(comm, &code))
        return code;
    if (state.has_restored || state.settings.restart == MUR_RESTART_NONE) {
        state.has_restored = true;
        save_if_due();
        return MPI_SUCCESS;
    }
    state.has_restored = true;
    if (!restore(&flaw))
        return mur_flaw_raise(&flaw, comm, MPI_ERR_IO);
    state.last = MPI_Wtime();
    *is_restarted = state.newest >= 0;
    return MPI_SUCCESS;
}

int MPIX_Ckpt_version(int *version)
{
    *version = (int)state.newest;
    return MPI_SUCCESS;
}
