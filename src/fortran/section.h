/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice buffers of mpi_f08: TYPE(*), DIMENSION(..). The compiler passes a descriptor (ISO_Fortran_binding), which
 * tells the place of every element. A contiguous buffer is its address. Any other is a section, and the call must act
 * as if its elements lay side by side (MPI-5.0 §19.1.12):
 *
 *   typed   its shape and the datatype make a new datatype, of which the call gets one element. Nothing is copied
 *           (section_type.c).
 *   copied  the elements are copied to memory side by side, and back after the call; of nonblocking calls when the
 *           request is complete (pending.c). So are buffers of reductions, whose datatype must stay what it is, and
 *           those of many blocks.
 *   parts   the same for partitioned communication: a partition is copied when it is ready, and back when it has
 * arrived. */
#ifndef MUR_FORTRAN_SECTION_H
#define MUR_FORTRAN_SECTION_H

#include "fortran/fortran.h"

enum { MUR_SECTION_RANKS = 15, MUR_SECTION_BUFFERS = 3 };

/* CFI_cdesc_t as all compilers have it as far as we need: the standard fixes the first three members and the last. */
struct mur_descriptor {
    void *base_addr;
    size_t elem_len;
    int version;
    int8_t rank;
    int8_t others[3]; /* attribute and type, in an order that differs between compilers */
    struct mur_dimension {
        ptrdiff_t lower_bound, extent, sm; /* sm: bytes from one element to the next; extent -1: assumed size */
    } dim[];
};

/* Whether the elements lie side by side. An array of assumed size is passed as the address of its first element. */
bool mur_section_is_contiguous(const struct mur_descriptor *buffer);

/* Whether this is seen at once: of scalars and of arrays of one dimension. */
static inline bool mur_is_plain(const struct mur_descriptor *buffer)
{
    return buffer->rank == 0 || (buffer->rank == 1 && buffer->dim[0].sm == (ptrdiff_t)buffer->elem_len);
}

enum mur_section_mode { MUR_SECTION_TYPED, MUR_SECTION_COPIED, MUR_SECTION_PARTS };

/* What a datatype takes of memory, in bytes. */
struct mur_section_span {
    MPI_Count size, extent, true_lower, true_extent;
};

/* A buffer of a call. Address, count and datatype are what the call gets instead of the user's. */
struct mur_section_part {
    void *address;
    MPI_Fint small_count;
    MPI_Count large_count;
    MPI_Fint datatype;
    bool is_typed;                     /* the datatype was made for the call */
    bool is_input;                     /* nothing goes back */
    void *copy;                        /* NULL: not copied */
    MPI_Count part_bytes;              /* from one partition to the next */
    struct mur_descriptor *descriptor; /* a copy of the user's, for the way back; only with `copy` */
};

struct mur_sections {
    const char *name;  /* of the call, for errors */
    MPI_Fint *request; /* its output, NULL of blocking calls */
    bool is_persistent;
    MPI_Fint partitions; /* of partitioned communication, else 0 */
    MPI_Fint code;
    int count;
    struct mur_section_part parts[MUR_SECTION_BUFFERS];
};

/* Prepares the next buffer of the call. Sets `code` when it cannot be done. `count` and `datatype` are those that
 * belong to the buffer, if the mode needs them. */
void mur_section_add(struct mur_sections *sections, const struct mur_descriptor *buffer, enum mur_section_mode mode,
                     bool is_input, MPI_Count count, MPI_Fint datatype);

/* After the call, whose result is `code`: brings back what was copied, now or when the request is complete. */
void mur_sections_end(struct mur_sections *sections, MPI_Fint *ierror);

/* Calls `visit` with each piece of memory of the section that has the next of the bytes from `first`, counted as if the
 * elements lay side by side. The section has them. */
typedef void mur_visit(void *context, char *place, size_t length);
void mur_section_walk(const struct mur_descriptor *buffer, size_t first, size_t bytes, mur_visit *visit, void *context);

/* Copies bytes of a section to the same place in a copy of all its elements, or back. */
void mur_section_gather(const struct mur_section_part *part, size_t first, size_t bytes);
void mur_section_scatter(const struct mur_section_part *part, size_t first, size_t bytes);

/* Makes the datatype, already committed, of `count` elements of another over a section. The span is that of the other.
 */
int mur_section_type(const struct mur_descriptor *buffer, const struct mur_section_span *span, MPI_Count count,
                     MPI_Datatype datatype, MPI_Datatype *made);

/* Takes over the copies of a call until its request is complete (pending.c). */
void mur_pending_add(MPI_Fint request, const struct mur_sections *sections);
/* The size of the copy in bytes. */
size_t mur_section_part_bytes(const struct mur_section_part *part);
void mur_section_part_free(struct mur_section_part *part);
#endif
