/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of arrays in calls: decides for each buffer what the call gets instead of it. */
#include "fortran/section.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gfortran 12 leaves the strides unset, which means zero or what the stack had, in an allocatable array that `a =
 * reshape(...)` has allocated. Such an array is contiguous. No array has elements a tebibyte apart. */
static bool is_unset(ptrdiff_t stride)
{
    return stride == 0 || stride >> 40 > 0 || stride >> 40 < -1;
}

bool mur_section_is_contiguous(const struct mur_descriptor *buffer)
{
    ptrdiff_t expected = (ptrdiff_t)buffer->elem_len;

    for (int i = 0; i < buffer->rank; i++) {
        if (buffer->dim[i].extent == 0 || (buffer->dim[i].extent > 1 && is_unset(buffer->dim[i].sm)))
            return true;
        if (buffer->dim[i].sm != expected && buffer->dim[i].extent != 1)
            return false;
        expected *= buffer->dim[i].extent;
    }
    return true;
}

static size_t byte_count(const struct mur_descriptor *buffer)
{
    size_t count = buffer->elem_len;

    for (int i = 0; i < buffer->rank; i++)
        count *= (size_t)buffer->dim[i].extent;
    return count;
}

/* ---- The pieces of a section */

/* The place of an element whose number is counted over all dimensions. */
static char *element_place(const struct mur_descriptor *buffer, size_t element)
{
    char *place = buffer->base_addr;

    for (int i = 0; i < buffer->rank; i++) {
        size_t extent = (size_t)buffer->dim[i].extent;

        place += (ptrdiff_t)(element % extent) * buffer->dim[i].sm;
        element /= extent;
    }
    return place;
}

/* Goes along the first dimension as far as possible before it looks for the next place. */
void mur_section_walk(const struct mur_descriptor *buffer, size_t first, size_t bytes, mur_visit *visit, void *context)
{
    size_t within = first % buffer->elem_len, element = first / buffer->elem_len;

    while (bytes > 0) {
        char *place = element_place(buffer, element);
        size_t row = (size_t)buffer->dim[0].extent, index = element % row;

        for (element += row - index; index < row && bytes > 0; index++, place += buffer->dim[0].sm) {
            size_t length = buffer->elem_len - within < bytes ? buffer->elem_len - within : bytes;

            visit(context, place + within, length);
            bytes -= length;
            within = 0;
        }
    }
}

static void to_copy(void *context, char *place, size_t length)
{
    char **copy = context;

    memcpy(*copy, place, length);
    *copy += length;
}

static void from_copy(void *context, char *place, size_t length)
{
    char **copy = context;

    memcpy(place, *copy, length);
    *copy += length;
}

void mur_section_gather(const struct mur_section_part *part, size_t first, size_t bytes)
{
    char *copy = (char *)part->copy + first;

    mur_section_walk(part->descriptor, first, bytes, to_copy, &copy);
}

void mur_section_scatter(const struct mur_section_part *part, size_t first, size_t bytes)
{
    char *copy = (char *)part->copy + first;

    mur_section_walk(part->descriptor, first, bytes, from_copy, &copy);
}

size_t mur_section_part_bytes(const struct mur_section_part *part)
{
    return byte_count(part->descriptor);
}

/* ---- Buffers of a call */

/* An error about a section, raised as errors of calls without a handle of their own are. */
static int refuse(const char *format, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    va_list arguments;
    int code;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (PMPI_Add_error_code(MPI_ERR_BUFFER, &code) || PMPI_Add_error_string(code, text))
        return MPI_ERR_BUFFER;
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}

/* What the datatype takes of memory. False: it is no datatype, or takes nothing, and the call may have the buffer as it
 * is: either it takes nothing from it, or it fails. Asking about a handle that is no datatype would call error handlers
 * before the call itself does. */
static bool find_span(MPI_Fint number, struct mur_section_span *span)
{
    MPI_Datatype datatype = mur_datatype_in(number);
    MPI_Count lower;

    if (PMPI_Type_fromint(number) == MPI_DATATYPE_NULL)
        return false;
    return !PMPI_Type_size_c(datatype, &span->size) && !PMPI_Type_get_extent_c(datatype, &lower, &span->extent) &&
           !PMPI_Type_get_true_extent_c(datatype, &span->true_lower, &span->true_extent) && span->size > 0;
}

/* Whether the section has all bytes that `count` elements take; else sets the error. */
static bool has_room(struct mur_sections *sections, const struct mur_descriptor *buffer, MPI_Count count,
                     const struct mur_section_span *span)
{
    MPI_Count last = (count - 1) * span->extent;
    MPI_Count low = span->true_lower + (last < 0 ? last : 0);
    MPI_Count high = span->true_lower + span->true_extent + (last > 0 ? last : 0);
    size_t has = byte_count(buffer);

    if (low >= 0 && (size_t)high <= has)
        return true;
    sections->code =
        refuse("%s: the buffer is an array section of %zu bytes, but count and datatype reach from byte %lld "
               "to byte %lld",
               sections->name, has, (long long)low, (long long)high);
    return false;
}

static void add_typed(struct mur_sections *sections, struct mur_section_part *part, const struct mur_descriptor *buffer,
                      MPI_Count count, MPI_Fint datatype)
{
    struct mur_section_span span;
    MPI_Datatype made;

    if (count <= 0 || !find_span(datatype, &span) || !has_room(sections, buffer, count, &span))
        return;
    sections->code = mur_section_type(buffer, &span, count, mur_datatype_in(datatype), &made);
    if (sections->code)
        return;
    part->is_typed = true;
    part->small_count = 1;
    part->large_count = 1;
    part->datatype = mur_datatype_out(made);
}

static void add_copied(struct mur_sections *sections, struct mur_section_part *part,
                       const struct mur_descriptor *buffer)
{
    size_t bytes = byte_count(buffer), size = sizeof *buffer + (size_t)buffer->rank * sizeof buffer->dim[0];

    part->copy = malloc(bytes);
    part->descriptor = malloc(size);
    if (!part->copy || !part->descriptor) {
        mur_section_part_free(part);
        sections->code = mur_no_memory();
        return;
    }
    memcpy(part->descriptor, buffer, size);
    mur_section_gather(part, 0, bytes);
    part->address = part->copy;
}

static void add_parts(struct mur_sections *sections, struct mur_section_part *part, const struct mur_descriptor *buffer,
                      MPI_Count count, MPI_Fint datatype)
{
    struct mur_section_span span;

    if (count <= 0 || sections->partitions <= 0 || !find_span(datatype, &span) ||
        !has_room(sections, buffer, count * sections->partitions, &span))
        return;
    if (span.true_lower < 0 || span.true_lower + span.true_extent > span.extent) {
        sections->code =
            refuse("%s: the buffer is an array section that is not contiguous; then elements of the datatype "
                   "must not overlap, but its extent is %lld bytes and its data take bytes %lld to %lld",
                   sections->name, (long long)span.extent, (long long)span.true_lower,
                   (long long)(span.true_lower + span.true_extent));
        return;
    }
    part->part_bytes = count * span.extent;
    add_copied(sections, part, buffer);
}

void mur_section_add(struct mur_sections *sections, const struct mur_descriptor *buffer, enum mur_section_mode mode,
                     bool is_input, MPI_Count count, MPI_Fint datatype)
{
    struct mur_section_part *part = &sections->parts[sections->count++];

    *part = (struct mur_section_part){.address = buffer->base_addr,
                                      .small_count = (MPI_Fint)count,
                                      .large_count = count,
                                      .datatype = datatype,
                                      .is_input = is_input};
    if (sections->code || mur_section_is_contiguous(buffer))
        return;
    if (mode == MUR_SECTION_TYPED)
        add_typed(sections, part, buffer, count, datatype);
    else if (mode == MUR_SECTION_PARTS)
        add_parts(sections, part, buffer, count, datatype);
    else
        add_copied(sections, part, buffer);
}

void mur_section_part_free(struct mur_section_part *part)
{
    free(part->copy);
    free(part->descriptor);
    part->copy = NULL;
    part->descriptor = NULL;
}

/* Whether the request needs no entry among the pending ones. All requests that are complete at once may have one
 * number, so their data come back at once, too. */
static bool is_done(const struct mur_sections *sections)
{
    int flag = 0;

    return !sections->is_persistent &&
           (PMPI_Request_get_status(mur_request_in(*sections->request), &flag, MPI_STATUS_IGNORE) || flag);
}

void mur_sections_end(struct mur_sections *sections, MPI_Fint *ierror)
{
    bool is_copied = false;

    for (int i = 0; i < sections->count; i++) {
        struct mur_section_part *part = &sections->parts[i];

        if (part->is_typed) {
            MPI_Datatype datatype = mur_datatype_in(part->datatype);

            PMPI_Type_free(&datatype); /* it lives on while an operation uses it */
        }
        is_copied |= part->copy != NULL;
    }
    if (is_copied && !sections->code && sections->request && !is_done(sections)) {
        mur_pending_add(*sections->request, sections);
    } else {
        for (int i = 0; i < sections->count; i++) {
            struct mur_section_part *part = &sections->parts[i];

            if (part->copy && !part->is_input && !sections->code)
                mur_section_scatter(part, 0, mur_section_part_bytes(part));
            mur_section_part_free(part);
        }
    }
    mur_give(ierror, sections->code);
}
