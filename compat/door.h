/* SPDX-License-Identifier: BSD-3-Clause */
/* The doors: libraries that have the names and the binary interface of another MPI, for programs that were built for
 * it, and call Murmur. A door translates and never decides.
 *
 * It is made of three parts. api/doors.py generates what follows from api/functions.txt and the family's constants.txt:
 * a function for each of MPI (build/generated/compat/). The files of this folder are what cannot be generated,
 * callbacks above all; each is compiled once for each family. A family's own folder has the form of its handles and
 * statuses (family.h) and what only it has.
 *
 * Names: what ends in _in turns a value of theirs into ours, what ends in _out the other way. The types of theirs are
 * their_comm and so on. A door defines MPI's own names, so it declares its functions under others (door_Send) with an
 * assembler name, and calls the core by the table murmur_door (src/mpi/stateful.h). */
#ifndef MUR_COMPAT_DOOR_H
#define MUR_COMPAT_DOOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mpi/door.h"

#include "family.h"

/* Nobody includes prototypes of these functions: programs have those of their own mpi.h. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* A second name of a function that a tool may replace: MPI_X beside PMPI_X. */
#define MUR_WEAK_NAME(function, name, target)                                                                          \
    extern __typeof__(function) weak_##function __asm__(name)                                                          \
        __attribute__((weak, alias(target), visibility("default")));

/* Declares a function by hand under both names of MPI's, before its definition. */
#define MUR_DOOR(result, short_name, ...)                                                                              \
    result door_##short_name(__VA_ARGS__) __asm__("PMPI_" #short_name) __attribute__((visibility("default")));         \
    MUR_WEAK_NAME(door_##short_name, "MPI_" #short_name, "PMPI_" #short_name)                                          \
    result door_##short_name(__VA_ARGS__)

/* ---- Error codes */
__attribute__((cold)) int mur_code_out(int code);
__attribute__((cold)) int error_in(int code);

/* The code of ours whose text tells most about a code of theirs. */
__attribute__((cold)) int mur_code_of_text(int code);

/* Numbers that are no codes of theirs lie above all codes of ours. */
enum { MUR_NUMBERS_FROM = 1 << 29 };

static inline int error_out(int code)
{
    if (__builtin_expect(!code, 1))
        return MPI_SUCCESS;
    return code < MUR_NUMBERS_FROM ? mur_code_out(code) : code - MUR_NUMBERS_FROM;
}

/* What a callback of the program has returned: a code, or a number of its own, which the call then returns as it is. */
int mur_callback_in(int code);

/* Raises an error with MPI_COMM_SELF, and returns the code of theirs: what a door itself finds wrong. */
__attribute__((cold)) int mur_door_raise(int error_class);

/* Says which function of C++ the operation that this thread has just created calls. */
void mur_op_of_cxx(their_op op, void (*function)(void));

/* ---- Statuses. The core leaves alone what the standard says it does not set, so the room for a status starts with
 * values that no call sets. */
#define MUR_UNTOUCHED INT_MIN

static inline MPI_Status *status_room(const struct their_status *theirs, MPI_Status *room)
{
    if (is_ignored(theirs))
        return MPI_STATUS_IGNORE;
    room->MPI_SOURCE = MUR_UNTOUCHED;
    room->MPI_ERROR = MUR_UNTOUCHED;
    return room;
}

static inline void status_out(struct their_status *theirs, const MPI_Status *ours)
{
    if (is_ignored(theirs) || ours->MPI_SOURCE == MUR_UNTOUCHED)
        return;
    status_copy_out(theirs, ours);
    if (__builtin_expect(ours->MPI_ERROR != MUR_UNTOUCHED, 0))
        theirs->MPI_ERROR = error_out(ours->MPI_ERROR);
}

static inline void status_out_all(struct their_status *theirs, const MPI_Status *ours)
{
    status_copy_out(theirs, ours);
    theirs->MPI_ERROR = error_out(ours->MPI_ERROR);
}

static inline MPI_Status *status_in(const struct their_status *theirs, MPI_Status *room)
{
    if (is_ignored(theirs))
        return NULL;
    memset(room, 0, sizeof *room);
    status_copy_in(room, theirs);
    room->MPI_ERROR = theirs->MPI_ERROR ? error_in(theirs->MPI_ERROR) : MPI_SUCCESS;
    return room;
}

struct mur_statuses {
    MPI_Status *all;
    MPI_Status few[16];
};
MPI_Status *mur_statuses_room(struct mur_statuses *list, const struct their_status *theirs, int count);
void mur_statuses_out(struct their_status *theirs, const MPI_Status *ours, int count);
void mur_statuses_free(struct mur_statuses *list);

/* ---- Lists: arrays of handles as the core has them. The elements of short ones are in the struct itself, the others
 * are allocated. NULL, for NULL or without memory, is what the core reports. A negative count is none. */
struct mur_door_list {
    void *all;
    void *few[64];
};
MPI_Request *mur_requests_in(struct mur_door_list *list, const their_request *theirs, int count);
MPI_Datatype *mur_types_in(struct mur_door_list *list, const their_type *theirs, MPI_Count count);
MPI_Info *mur_infos_in(struct mur_door_list *list, const their_info *theirs, int count);
void *mur_list_room(struct mur_door_list *list, MPI_Count count, size_t bytes);
void mur_list_free(struct mur_door_list *list);

/* Completed requests become null. */
void mur_requests_out(their_request *theirs, const MPI_Request *ours, int count);

/* The number of elements of arrays with one for each rank that the communicator talks to, or for each neighbour; 0 for
 * what is no communicator. */
int mur_door_peers(MPI_Comm comm);
int mur_door_neighbors(MPI_Comm comm, bool are_sent_to);

/* Copies a text of the core's into room of `limit` bytes, and corrects the length, unless that is NULL. */
void mur_text_out(char *theirs, const char *text, int limit, int *length);

#endif
