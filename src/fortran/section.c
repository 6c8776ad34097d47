/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of arrays: makes datatypes of them, or copies them. */
#include "fortran/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mur_is_contiguous(const struct mur_descriptor *buffer)
{
    ptrdiff_t expected = (ptrdiff_t)buffer->elem_len;

    for (int i = 0; i < buffer->rank; i++) {
        if (buffer->dim[i].extent == 0)
            return true;
        if (buffer->dim[i].sm != expected && buffer->dim[i].extent != 1)
            return false;
        expected *= buffer->dim[i].extent;
    }
    return true;
}

static MPI_Count element_count(const struct mur_descriptor *buffer)
{
    MPI_Count count = 1;

    for (int i = 0; i < buffer->rank; i++)
        count *= buffer->dim[i].extent;
    return count;
}

/* Copies along the dimensions from the last to the first; the first is the innermost loop. Returns the next place in
 * the copy. */
static char *copy_dimension(const struct mur_descriptor *buffer, int dimension, char *place, char *copy, bool is_back)
{
    const struct mur_dimension *dim = &buffer->dim[dimension];

    for (ptrdiff_t i = 0; i < dim->extent; i++, place += dim->sm) {
        if (dimension > 0) {
            copy = copy_dimension(buffer, dimension - 1, place, copy, is_back);
            continue;
        }
        memcpy(is_back ? place : copy, is_back ? copy : place, buffer->elem_len);
        copy += buffer->elem_len;
    }
    return copy;
}

void mur_section_gather(const struct mur_descriptor *buffer, void *copy)
{
    copy_dimension(buffer, buffer->rank - 1, buffer->base_addr, copy, false);
}

void mur_section_scatter(const struct mur_descriptor *buffer, const void *copy)
{
    copy_dimension(buffer, buffer->rank - 1, buffer->base_addr, (void *)copy, true);
}

/* The class of errors about the shape of a buffer, with a text of its own. */
static int refuse(const char *name, const char *why)
{
    char text[MPI_MAX_ERROR_STRING];
    int code;

    snprintf(text, sizeof text, "%s: the buffer is an array section that is not contiguous; %s", name, why);
    if (PMPI_Add_error_code(MPI_ERR_BUFFER, &code) || PMPI_Add_error_string(code, text))
        return MPI_ERR_BUFFER;
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}

/* One more dimension around `inner`, which is taken over. */
static int wrap_dimension(MPI_Datatype *inner, ptrdiff_t extent, ptrdiff_t stride)
{
    MPI_Datatype outer;
    int code = PMPI_Type_create_hvector_c(extent, 1, stride, *inner, &outer);

    PMPI_Type_free(inner);
    if (!code)
        *inner = outer;
    return code;
}

/* Makes the datatype of the first `elements` elements of a section. False: they are no whole rows. */
static bool wrap_all(const struct mur_descriptor *buffer, MPI_Count elements, MPI_Datatype *made)
{
    for (int i = 0; i < buffer->rank && elements > 1; i++) {
        MPI_Count extent = buffer->dim[i].extent;

        if (elements > extent && elements % extent) {
            PMPI_Type_free(made);
            return false;
        }
        if (elements < extent)
            extent = elements;
        if (wrap_dimension(made, extent, buffer->dim[i].sm))
            return false;
        elements /= extent;
    }
    if (elements == 1 && !PMPI_Type_commit(made))
        return true;
    PMPI_Type_free(made);
    return false;
}

/* The datatype of `count` elements of `datatype` side by side, spread over the section; false: there is none. It exists
 * where the datatype has no gaps and an element of the array holds a whole number of them. */
static bool make_type(const struct mur_descriptor *buffer, MPI_Count count, MPI_Datatype datatype, MPI_Datatype *made)
{
    MPI_Count size, lower, extent, per_element;

    if (PMPI_Type_size_c(datatype, &size) || PMPI_Type_get_extent_c(datatype, &lower, &extent) || size <= 0 ||
        size != extent || lower != 0 || buffer->elem_len % (size_t)size || count <= 0)
        return false;
    PMPI_Type_get_true_extent_c(datatype, &lower, &extent);
    per_element = (MPI_Count)buffer->elem_len / size;
    if (size != extent || lower != 0 || count % per_element || count / per_element > element_count(buffer))
        return false;
    return !PMPI_Type_contiguous_c(per_element, datatype, made) && wrap_all(buffer, count / per_element, made);
}

/* Whether the handle is a datatype. Asking about another would call error handlers before the call itself does. */
static bool is_datatype(MPI_Fint number)
{
    return number != (MPI_Fint)(intptr_t)MPI_DATATYPE_NULL &&
           ((uint32_t)number < MUR_FORTRAN_CONSTANTS || PMPI_Type_fromint(number) != MPI_DATATYPE_NULL);
}

static bool add_typed(struct mur_part *part, const struct mur_descriptor *buffer, MPI_Count count, MPI_Fint datatype)
{
    MPI_Datatype made;

    if (!is_datatype(datatype) || !make_type(buffer, count, mur_datatype_in(datatype), &made))
        return false;
    part->is_typed = true;
    part->small_count = 1;
    part->large_count = 1;
    part->datatype = mur_datatype_out(made);
    return true;
}

static int add_copied(struct mur_part *part, const struct mur_descriptor *buffer, const char *name)
{
    size_t size = sizeof *buffer + (size_t)buffer->rank * sizeof buffer->dim[0];

    part->bytes = (size_t)element_count(buffer) * buffer->elem_len;
    part->copy = malloc(part->bytes ? part->bytes : 1);
    part->descriptor = malloc(size);
    if (!part->copy || !part->descriptor) {
        mur_part_free(part);
        return refuse(name, "there is no memory for a copy of it");
    }
    memcpy(part->descriptor, buffer, size);
    mur_section_gather(buffer, part->copy);
    part->address = part->copy;
    return MPI_SUCCESS;
}

void mur_section_add(struct mur_sections *sections, const struct mur_descriptor *buffer, enum mur_section_mode mode,
                     bool is_input, MPI_Count count, MPI_Fint datatype)
{
    struct mur_part *part = &sections->parts[sections->count++];

    *part = (struct mur_part){.address = buffer->base_addr,
                              .small_count = (MPI_Fint)count,
                              .large_count = count,
                              .datatype = datatype,
                              .is_input = is_input};
    if (sections->code || mur_is_contiguous(buffer))
        return;
    if ((mode == MUR_SECTION_TYPED || mode == MUR_SECTION_TYPED_OR_COPIED) && add_typed(part, buffer, count, datatype))
        return;
    if (mode == MUR_SECTION_TYPED_OR_COPIED || mode == MUR_SECTION_COPIED)
        sections->code = add_copied(part, buffer, sections->name);
    else
        sections->code = refuse(sections->name, mode == MUR_SECTION_REFUSED
                                                    ? "this call needs a contiguous one"
                                                    : "this call takes one only where its elements are whole elements "
                                                      "of a datatype without gaps");
}

void mur_part_free(struct mur_part *part)
{
    free(part->copy);
    free(part->descriptor);
    part->copy = NULL;
    part->descriptor = NULL;
}

void mur_sections_end(struct mur_sections *sections, MPI_Fint *ierror)
{
    bool is_copied = false;

    for (int i = 0; i < sections->count; i++) {
        struct mur_part *part = &sections->parts[i];

        if (part->is_typed) {
            MPI_Datatype datatype = mur_datatype_in(part->datatype);

            PMPI_Type_free(&datatype); /* it lives on while an operation uses it */
        }
        is_copied |= part->copy != NULL;
    }
    if (is_copied && !sections->code && sections->request &&
        *sections->request != (MPI_Fint)(intptr_t)MPI_REQUEST_NULL) {
        mur_pending_add(*sections->request, sections->is_persistent, sections);
    } else {
        for (int i = 0; i < sections->count; i++) {
            struct mur_part *part = &sections->parts[i];

            if (part->copy && !part->is_input && !sections->code)
                mur_section_scatter(part->descriptor, part->copy);
            mur_part_free(part);
        }
    }
    mur_give(ierror, sections->code);
}
