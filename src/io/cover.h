/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bytes (or pieces) of a pane are there, or wanted: a bit each, that several ranks may set at one time. */
#ifndef MUR_IO_COVER_H
#define MUR_IO_COVER_H

#include <stdatomic.h>
#include <stdint.h>

#include "io/access.h"

typedef _Atomic uint64_t mur_cover_word;

/* Sets the bits from..to. */
void mur_cover_set(mur_cover_word *words, size_t from, size_t to);

/* The next stretch of set bits at or behind *to. False: no more below `end`. */
bool mur_cover_next(const mur_cover_word *words, size_t end, size_t *from, size_t *to);

/* Sets a bit for every `grain` bytes that `bytes` of the access's data touch, from `done` bytes of them on, in a pane
 * that stands for the file from byte `start` on. */
void mur_cover_data(const struct mur_access *access, size_t done, size_t bytes, MPI_Offset start, size_t grain,
                    mur_cover_word *words);

/* Writes what is covered of a pane's `bytes`: stretch by stretch, or, if they are small and near each other, together
 * with what lies between, which is read before. Clears the bits. Returns errno, or 0. */
int mur_cover_write(struct mur_file *file, char *buffer, MPI_Offset start, size_t bytes, mur_cover_word *words);

/* Reads what is marked of a pane [start, end) where a bit is MUR_MARKED bytes. Returns errno, or 0; *valid is where
 * the file ended, else `end`. */
int mur_cover_read(struct mur_file *file, char *buffer, MPI_Offset start, MPI_Offset end, const mur_cover_word *words,
                   MPI_Offset *valid);

#endif
