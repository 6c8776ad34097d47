/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bytes (or pieces) of a collective buffer are there, or wanted: a bit each, that several ranks may set at one
 * time. */
#ifndef MUR_IO_BITMAP_H
#define MUR_IO_BITMAP_H

#include <stdatomic.h>
#include <stdint.h>

#include "io/access.h"

typedef _Atomic uint64_t mur_bitmap_word;

/* Sets the bits from..to. */
void mur_bitmap_set(mur_bitmap_word *words, size_t from, size_t to);

/* The next stretch of set bits at or behind *to. False: no more below `end`. */
bool mur_bitmap_next(const mur_bitmap_word *words, size_t end, size_t *from, size_t *to);

/* Sets a bit for every `grain` bytes that `bytes` of the access's data touch, from `done` bytes of them on, in a
 * collective buffer that stands for the file from byte `start` on. */
void mur_bitmap_data(const struct mur_access *access, size_t done, size_t bytes, MPI_Offset start, size_t grain,
                     mur_bitmap_word *words);

/* Writes what is covered of a collective buffer's `bytes`: stretch by stretch, or, if they are small and near each
 * other, together with what lies between, which is read before. Clears the bits. Returns errno, or 0. */
int mur_bitmap_write(struct mur_file *file, char *buffer, MPI_Offset start, size_t bytes, mur_bitmap_word *words);

/* Reads what is marked of a collective buffer [start, end) where a bit is MUR_MARKED bytes. Returns errno, or 0; *valid
 * is where the file ended, else `end`. */
int mur_bitmap_read(struct mur_file *file, char *buffer, MPI_Offset start, MPI_Offset end, const mur_bitmap_word *words,
                    MPI_Offset *valid);

#endif
