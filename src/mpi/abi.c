/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ABI tells about itself and about Fortran (MPI-5.0 §20.2, §20.3). Legal at any time and from any thread. The
 * library's Fortran types have the sizes that Fortran compilers give them by default (datatype/basic.c); a Fortran
 * binding that was built with others is told so. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "datatype/logical.h"
#include "mpi/bodies.h"
#include "object/buffer.h"
#include "object/info.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static bool is_info_set, are_booleans_set; /* by a caller */

static int set_number(struct mur_info *info, const char *key, long value)
{
    char text[24];

    snprintf(text, sizeof text, "%ld", value);
    return mur_info_set(info, key, text);
}

static int give(int rc, struct mur_info *info, MPI_Info *handle)
{
    if (rc)
        mur_info_free(info);
    else
        *handle = mur_object_handle(info);
    return rc;
}

int mur_mpi_abi_get_version(int *abi_major, int *abi_minor)
{
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

int mur_mpi_abi_get_info(MPI_Info *handle)
{
    struct mur_info *info = NULL;
    int rc = mur_info_create(&info);

    if (rc)
        return rc;
    if (!(rc = set_number(info, "mpi_aint_size", sizeof(MPI_Aint))) &&
        !(rc = set_number(info, "mpi_count_size", sizeof(MPI_Count))))
        rc = set_number(info, "mpi_offset_size", sizeof(MPI_Offset));
    return give(rc, info, handle);
}

static const struct {
    const char *key;
    enum mur_basic basic;
} sizes[] = {
    {"mpi_logical_size", MUR_BASIC_LOGICAL},
    {"mpi_integer_size", MUR_BASIC_INTEGER},
    {"mpi_real_size", MUR_BASIC_REAL},
    {"mpi_double_precision_size", MUR_BASIC_DOUBLE_PRECISION},
};

static const struct {
    const char *key;
    enum mur_basic basic;
} kinds[] = {
    {"mpi_logical1_supported", MUR_BASIC_LOGICAL1},
    {"mpi_logical2_supported", MUR_BASIC_LOGICAL2},
    {"mpi_logical4_supported", MUR_BASIC_LOGICAL4},
    {"mpi_logical8_supported", MUR_BASIC_LOGICAL8},
    {"mpi_logical16_supported", MUR_BASIC_LOGICAL16},
    {"mpi_integer1_supported", MUR_BASIC_INTEGER1},
    {"mpi_integer2_supported", MUR_BASIC_INTEGER2},
    {"mpi_integer4_supported", MUR_BASIC_INTEGER4},
    {"mpi_integer8_supported", MUR_BASIC_INTEGER8},
    {"mpi_integer16_supported", MUR_BASIC_INTEGER16},
    {"mpi_real2_supported", MUR_BASIC_REAL2},
    {"mpi_real4_supported", MUR_BASIC_REAL4},
    {"mpi_real8_supported", MUR_BASIC_REAL8},
    {"mpi_real16_supported", MUR_BASIC_REAL16},
    {"mpi_complex4_supported", MUR_BASIC_COMPLEX4},
    {"mpi_complex8_supported", MUR_BASIC_COMPLEX8},
    {"mpi_complex16_supported", MUR_BASIC_COMPLEX16},
    {"mpi_complex32_supported", MUR_BASIC_COMPLEX32},
    {"mpi_double_complex_supported", MUR_BASIC_DOUBLE_COMPLEX},
};

int mur_mpi_abi_get_fortran_info(MPI_Info *handle)
{
    struct mur_info *info = NULL;
    int rc = mur_info_create(&info);

    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !rc; i++)
        rc = set_number(info, sizes[i].key, mur_basics[sizes[i].basic].size);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !rc; i++)
        rc = mur_info_set(info, kinds[i].key, mur_basics[kinds[i].basic].is_supported ? "true" : "false");
    return give(rc, info, handle);
}

static int check_sizes(const struct mur_info *info)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *value = mur_info_get(info, sizes[i].key);

        if (value && atoi(value) != mur_basics[sizes[i].basic].size)
            return mur_error(MPI_ERR_ABI, "%s is %s, but this library was built for %d bytes", sizes[i].key, value,
                             mur_basics[sizes[i].basic].size);
    }
    return MPI_SUCCESS;
}

/* The first caller wins. */
static int set_before(void)
{
    return mur_error(MPI_ERR_ABI, "this has been set before, which can be done once only");
}

int mur_mpi_abi_set_fortran_info(struct mur_info *info)
{
    int rc = check_sizes(info);

    pthread_mutex_lock(&guard);
    if (is_info_set)
        rc = set_before();
    else if (!rc)
        is_info_set = true;
    pthread_mutex_unlock(&guard);
    return rc;
}

static int check_logical(int size)
{
    if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16)
        return MPI_SUCCESS;
    return mur_error(MPI_ERR_ARG, "logical_size is %d, but must be 1, 2, 4, 8 or 16", size);
}

/* A signed number of `size` bytes, which may lie at any address. */
static void write_logical(void *out, int size, int64_t value)
{
    unsigned char bytes[16];

    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)(i < 8 ? value >> 8 * i : value >> 63);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(out, bytes, (size_t)size);
#else
    for (int i = 0; i < size; i++)
        ((unsigned char *)out)[i] = bytes[size - 1 - i];
#endif
}

/* False: it does not fit into 64 bits. */
static bool read_logical(const void *in, int size, int64_t *value)
{
    unsigned char bytes[16], again[16];
    uint64_t bits = 0;
    int used = size < 8 ? size : 8;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(bytes, in, (size_t)size);
#else
    for (int i = 0; i < size; i++)
        bytes[i] = ((const unsigned char *)in)[size - 1 - i];
#endif
    for (int i = 0; i < used; i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    *value = (int64_t)(bits << (64 - 8 * used)) >> (64 - 8 * used);
    write_logical(again, size, *value);
    return memcmp(again, in, (size_t)size) == 0;
}

int mur_mpi_abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
{
    int rc = check_logical(logical_size);

    if (rc)
        return rc;
    pthread_mutex_lock(&guard);
    write_logical(logical_true, logical_size, mur_logical.yes);
    write_logical(logical_false, logical_size, mur_logical.no);
    pthread_mutex_unlock(&guard);
    *is_set = 1;
    return MPI_SUCCESS;
}

static int check_values(int size, const void *logical_true, const void *logical_false, struct mur_logical *values)
{
    if (!mur_is_memory(logical_true) || !mur_is_memory(logical_false))
        return mur_error(MPI_ERR_ARG, "%s is %p, but must be an address",
                         mur_is_memory(logical_true) ? "logical_false" : "logical_true",
                         mur_is_memory(logical_true) ? logical_false : logical_true);
    if (!read_logical(logical_true, size, &values->yes) || !read_logical(logical_false, size, &values->no))
        return mur_error(MPI_ERR_ABI, "a logical value has more than 64 bits, which this library does not take");
    if (values->yes == values->no)
        return mur_error(MPI_ERR_ARG, "logical_true and logical_false are the same value, %lld",
                         (long long)values->yes);
    values->is_unusual = values->yes != 1 || values->no != 0;
    return MPI_SUCCESS;
}

int mur_mpi_abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    struct mur_logical values;
    int rc = check_logical(logical_size);

    if (!rc)
        rc = check_values(logical_size, logical_true, logical_false, &values);
    pthread_mutex_lock(&guard);
    if (!rc && are_booleans_set)
        rc = set_before();
    if (!rc) {
        are_booleans_set = true;
        mur_logical = values;
    }
    pthread_mutex_unlock(&guard);
    return rc;
}
