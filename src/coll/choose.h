/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm performs a collective: what users ask for; else, among ranks that share memory, one of the board that
 * fits; else what the table says. */
#ifndef MUR_COLL_CHOOSE_H
#define MUR_COLL_CHOOSE_H

#include "coll/algorithms.h"
#include "object/info.h"

/* How the ranks lie: all on one node; on one host, but without memory that they share; each on a node of its own, as
 * leaders do; several nodes with several ranks. */
enum mur_spread { MUR_ONE_NODE, MUR_ONE_HOST, MUR_APART, MUR_MIXED };

/* The table (table.c): of the rows of a kind and spread that can do the case at hand, the last whose least ranks and
 * least bytes are reached is chosen; where there is none, the first algorithm of the list. Bytes are those of a
 * message, or of one block; of a reduction, of all elements. */
struct mur_row {
    enum mur_collective_kind kind;
    enum mur_spread spread;
    int least_ranks;
    size_t least_bytes;
    const char *algorithm;
};
extern const struct mur_row mur_table[];
extern const size_t mur_table_count;

/* The bytes that the table goes by; 0 where not all ranks know them. */
size_t mur_collective_bytes(const struct mur_collective *collective, const struct mur_comm *comm);

enum { MUR_TABLE_ROWS_MAX = 256 };

/* The same choice at all ranks, and why it is made. NULL: no memory. */
const struct mur_algorithm *mur_choose(const struct mur_collective *collective, struct mur_comm *comm,
                                       const char **why);

/* Among those of the board only; NULL: none is to be used. */
const struct mur_algorithm *mur_choose_on_board(const struct mur_collective *collective, const struct mur_comm *comm);

/* The same, whatever users ask for, of a communicator that has a board. */
const struct mur_algorithm *mur_choose_best_on_board(const struct mur_collective *collective,
                                                     const struct mur_comm *comm);

/* Among those by messages. */
const struct mur_algorithm *mur_choose_by_messages(const struct mur_collective *collective, struct mur_comm *comm,
                                                   const char **why);

/* Whether operands may be combined in any order: the operation says so, and MUR_COLL_REPRODUCIBLE does not forbid it,
 * or the result is exact in any order. */
bool mur_choose_may_reorder(const struct mur_op *op, const struct mur_type *type);

/* With MUR_COLL_VERBOSE=1, for rank 0 of the communicator that a collective was started on: tells, once for each, what
 * performs it, and why. */
void mur_choose_tell(const struct mur_collective *collective, struct mur_comm *comm, const char *algorithm,
                     const char *why);

/* ---- overrides: what users ask for (override.c) ---- */

/* Reads MUR_COLL; returns a description of the first thing in it that makes no sense, or NULL. */
const char *mur_override_read(void);

/* Takes over the keys mur_KIND of an info, which may be NULL: an error for an algorithm that does not exist, and then
 * the communicator is unchanged. `mur_override_check` only looks. */
int mur_override_check(const struct mur_info *info);
int mur_override_set(struct mur_comm *comm, const struct mur_info *info);

/* Sets the keys of the overrides that the communicator has. */
int mur_override_get(const struct mur_comm *comm, struct mur_info *info);

/* What the communicator's info, else MUR_COLL, asks for: an algorithm; NULL with *is_board for any of the board; NULL.
 */
const struct mur_algorithm *mur_override(const struct mur_comm *comm, enum mur_collective_kind kind, bool *is_board);

/* Whether MUR_COLL asks for anything. */
extern bool mur_override_is_any;

#endif
