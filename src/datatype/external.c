/* SPDX-License-Identifier: BSD-3-Clause */
/* A basic element is one or two numbers of a machine type (two for complex ones). Integers are cut or sign-extended to
 * their external width, floating-point numbers keep their bits, but for x86's 80-bit ones, which become binary128. */
#include "datatype/external.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "datatype/elements.h"

enum form { PLAIN, SIGNED, UNSIGNED, EXTENDED }; /* plain: only the order of the bytes may change */

/* How one number lies in memory and outside. */
struct number {
    enum form form;
    int native, external; /* bytes */
    int count;            /* 2 for complex numbers */
};

/* MPI_LONG has 4 bytes outside, MPI_WCHAR 2, logicals 4, MPI_AINT and its like 8. */
static struct number number_of(const struct mur_basic_row *row, int part)
{
    int native = mur_element_bytes(row, part);
    struct number number = {.form = PLAIN, .native = native, .external = native, .count = 1};

    if (row->machine >= MUR_MACHINE_FLOAT_COMPLEX && row->machine <= MUR_MACHINE_FLOAT128_COMPLEX) {
        number.count = 2;
        number.native = number.external = native / 2;
    }
    switch ((uintptr_t)row->handle) {
    case (uintptr_t)MPI_LONG:
        return (struct number){SIGNED, native, 4, 1};
    case (uintptr_t)MPI_UNSIGNED_LONG:
        return (struct number){UNSIGNED, native, 4, 1};
    case (uintptr_t)MPI_WCHAR:
        return (struct number){UNSIGNED, native, 2, 1};
    case (uintptr_t)MPI_LOGICAL:
        return (struct number){UNSIGNED, native, 4, 1};
    case (uintptr_t)MPI_LONG_INT:
        return (struct number){SIGNED, native, 4, 1};
    case (uintptr_t)MPI_LONG_DOUBLE_INT:
        return part ? number : (struct number){EXTENDED, native, 16, 1};
    case (uintptr_t)MPI_LONG_DOUBLE:
    case (uintptr_t)MPI_C_LONG_DOUBLE_COMPLEX:
    case (uintptr_t)MPI_CXX_LONG_DOUBLE_COMPLEX:
        number.form = EXTENDED;
        number.external = 16;
        return number;
    default:
        return number;
    }
}

static void copy_reversed(unsigned char *out, const unsigned char *in, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = in[bytes - 1 - i];
}

/* To or from the order outside. */
static void copy_ordered(unsigned char *out, const unsigned char *in, int bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    copy_reversed(out, in, bytes);
#else
    memcpy(out, in, (size_t)bytes);
#endif
}

static int no_room(void)
{
    return mur_error(MPI_ERR_CONVERSION, "a number does not fit into its type on the other side of external32");
}

/* An integer of 1 to 8 bytes as memory has it. */
static int64_t load(const unsigned char *in, int bytes, bool is_signed)
{
    uint64_t value = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, in, (size_t)bytes);
#else
    memcpy((char *)&value + 8 - bytes, in, (size_t)bytes);
#endif
    if (is_signed && bytes < 8 && value >> (8 * bytes - 1))
        value |= ~UINT64_C(0) << 8 * bytes;
    return (int64_t)value;
}

static void store(unsigned char *out, int64_t value, int bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(out, &value, (size_t)bytes);
#else
    memcpy(out, (char *)&value + 8 - bytes, (size_t)bytes);
#endif
}

static int resize(unsigned char *out, int out_bytes, const unsigned char *in, int in_bytes, bool is_signed)
{
    int64_t value = load(in, in_bytes, is_signed);

    store(out, value, out_bytes);
    return load(out, out_bytes, is_signed) == value ? MPI_SUCCESS : no_room();
}

/* x86's extended numbers and binary128; where long double is binary128 (or plain double) already, bits are kept. */
static void extend(unsigned char *out, const unsigned char *in)
{
#if MUR_HAVE_FLOAT128
    long double narrow;
    mur_float128 wide;

    memcpy(&narrow, in, sizeof narrow);
    wide = (mur_float128)narrow;
    memcpy(out, &wide, sizeof wide);
#else
    memcpy(out, in, sizeof(long double));
#endif
}

static void unextend(unsigned char *out, const unsigned char *in)
{
#if MUR_HAVE_FLOAT128
    long double narrow;
    mur_float128 wide;

    memcpy(&wide, in, sizeof wide);
    narrow = (long double)wide;
    memcpy(out, &narrow, sizeof narrow);
#else
    memcpy(out, in, sizeof(long double));
#endif
}

static int write_number(const struct number *number, const unsigned char *in, unsigned char *out)
{
    unsigned char wide[16] = {0};
    int rc = MPI_SUCCESS;

    if (number->form == PLAIN) {
        copy_ordered(out, in, number->external);
        return MPI_SUCCESS;
    }
    if (number->form == EXTENDED)
        extend(wide, in);
    else
        rc = resize(wide, number->external, in, number->native, number->form == SIGNED);
    copy_ordered(out, wide, number->external);
    return rc;
}

static int read_number(const struct number *number, const unsigned char *in, unsigned char *out)
{
    unsigned char wide[16];

    if (number->form == PLAIN) {
        copy_ordered(out, in, number->external);
        return MPI_SUCCESS;
    }
    copy_ordered(wide, in, number->external);
    if (number->form == EXTENDED) {
        unextend(out, wide);
        return MPI_SUCCESS;
    }
    return resize(out, number->native, wide, number->external, number->form == SIGNED);
}

struct conversion {
    char *buffer; /* of the element under way */
    unsigned char *external;
    bool is_packing;
};

static int convert_one(void *argument, const struct mur_basic_row *row, int part, MPI_Count offset)
{
    struct conversion *conversion = argument;
    struct number number = number_of(row, part);
    unsigned char *native = (unsigned char *)((uintptr_t)conversion->buffer + (uintptr_t)offset);
    int rc = MPI_SUCCESS;

    for (int i = 0; i < number.count && !rc; i++) {
        rc = conversion->is_packing ? write_number(&number, native, conversion->external)
                                    : read_number(&number, conversion->external, native);
        native += number.native;
        conversion->external += number.external;
    }
    return rc;
}

static int convert(struct conversion conversion, MPI_Count count, const struct mur_type *type)
{
    int rc = MPI_SUCCESS;

    for (MPI_Count i = 0; i < count && !rc; i++) {
        rc = mur_elements_walk(type, convert_one, &conversion);
        conversion.buffer = (char *)((uintptr_t)conversion.buffer + (uintptr_t)type->extent);
    }
    return rc;
}

int mur_external_pack(const void *buffer, MPI_Count count, const struct mur_type *type, void *out)
{
    return convert((struct conversion){(char *)(uintptr_t)buffer, out, true}, count, type);
}

int mur_external_unpack(const void *in, void *buffer, MPI_Count count, const struct mur_type *type)
{
    return convert((struct conversion){buffer, (unsigned char *)(uintptr_t)in, false}, count, type);
}

struct part {
    struct conversion conversion;
    MPI_Count bytes, native;
    int rc;
};

static int convert_part(void *argument, const struct mur_basic_row *row, int part, MPI_Count offset)
{
    struct part *some = argument;
    struct number number = number_of(row, part);

    if (some->bytes < number.count * number.external)
        return 1;
    some->bytes -= number.count * number.external;
    some->native += mur_element_bytes(row, part);
    some->rc = convert_one(&some->conversion, row, part, offset);
    return some->rc;
}

int mur_external_unpack_some(const void *in, MPI_Count bytes, void *buffer, const struct mur_type *type,
                             MPI_Count *native)
{
    struct part some = {.conversion = {buffer, (unsigned char *)(uintptr_t)in, false}, .bytes = bytes};

    mur_elements_walk(type, convert_part, &some);
    *native += some.native;
    return some.rc;
}

static int add_size(void *argument, const struct mur_basic_row *row, int part, MPI_Count offset)
{
    struct number number = number_of(row, part);

    (void)offset;
    *(MPI_Count *)argument += number.count * number.external;
    return 0;
}

MPI_Count mur_external_size(const struct mur_type *type)
{
    MPI_Count size = 0;

    mur_elements_walk(type, add_size, &size);
    return size;
}
