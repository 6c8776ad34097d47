/* SPDX-License-Identifier: BSD-3-Clause */
/* All files of a folder in one, compressed, with a checksum.
 *
 * A magic number, a byte that tells whether zstd's stream follows or the data as it is, and the data: for each file its
 * name, a NUL, its length as 8 bytes, its contents. The libraries, libzstd and libxxhash, are loaded when they are
 * needed; without the first nothing is compressed, without the other no snapshot can be made. */
#ifndef MUR_LAUNCH_CHECKPOINT_PACK_H
#define MUR_LAUNCH_CHECKPOINT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MUR_PACK_TEXT = 512 };

/* Each returns false with what is wrong in `text`. */
bool mur_pack_load(char text[MUR_PACK_TEXT]); /* the libraries */
bool mur_pack_write(const char *folder, const char *path, char text[MUR_PACK_TEXT]);
bool mur_pack_read(const char *path, const char *folder, char text[MUR_PACK_TEXT]);

/* Of all bytes of a file; false with what is wrong. */
bool mur_pack_sum(const char *path, uint64_t *sum, uint64_t *bytes, char text[MUR_PACK_TEXT]);

/* Of bytes in memory; the libraries are loaded. */
uint64_t mur_pack_sum_of(const void *data, size_t bytes);

/* Removes a folder and all in it. */
void mur_pack_remove(const char *folder);

#endif
