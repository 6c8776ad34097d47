/* SPDX-License-Identifier: BSD-3-Clause */
/* Lustre tells a file's layout as the value of an extended attribute, which needs no library of its own: either one
 * layout, or a list of components, each for a part of the file, with a layout further on in the value. Components come
 * into being as the file grows; the last that is there has the most servers, and most of a large file. Other file
 * systems tell the best size of an access, which is that of a stripe or of a large block.
 *
 * What lies where in the value (offsets in bytes, little endian):
 *
 *   layout      0 kind, 4 bytes    24 stripe's bytes, 4    28 number of stripes, 2
 *   list        0 kind, 4    14 number of components, 2    32 the first of them, 48 bytes each:
 *   component   4 flags, 4   24 where its layout is, 4 */
#include "io/stripes.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "io/shared_state.h"

enum {
    LUSTRE = 0x0bd00bd0, /* of the file system */
    PLAIN = 0x0bd10bd0,  /* kinds of layouts: */
    POOL = 0x0bd30bd0,   /* with the name of a pool of servers behind, */
    LIST = 0x0bd60bd0,
    IS_THERE = 0x10, /* flag of a component */
    LAYOUT_BYTES = 32,
    COMPONENT_BYTES = 48,
    VALUE_MAX = 64 << 10, /* no attribute is longer */
    LARGEST_UNIT = 64 << 20
};

static uint32_t number_at(const char *value, size_t offset, size_t bytes)
{
    uint32_t number = 0;

    for (size_t i = 0; i < bytes; i++)
        number |= (uint32_t)(unsigned char)value[offset + i] << 8 * i;
    return number;
}

static void read_layout(const char *value, size_t bytes, size_t at, struct mur_stripes *stripes)
{
    uint32_t kind, unit, count;

    if (at > bytes || bytes - at < LAYOUT_BYTES)
        return;
    kind = number_at(value, at, 4);
    unit = number_at(value, at + 24, 4);
    count = number_at(value, at + 28, 2);
    if ((kind != PLAIN && kind != POOL) || unit == 0 || unit % MUR_CB_MIN || count == 0 || count == UINT16_MAX)
        return;
    *stripes = (struct mur_stripes){.unit = unit, .factor = count};
}

static void read_list(const char *value, size_t bytes, struct mur_stripes *stripes)
{
    size_t count = number_at(value, 14, 2);

    for (size_t i = 0; i < count; i++) {
        size_t component = LAYOUT_BYTES + i * COMPONENT_BYTES;

        if (component + COMPONENT_BYTES > bytes)
            return;
        if (number_at(value, component + 4, 4) & IS_THERE)
            read_layout(value, bytes, number_at(value, component + 24, 4), stripes);
    }
}

static void ask_lustre(int fd, struct mur_stripes *stripes)
{
    char value[VALUE_MAX];
    ssize_t bytes = fgetxattr(fd, "lustre.lov", value, sizeof value);

    if (bytes < LAYOUT_BYTES)
        return;
    if (number_at(value, 0, 4) == LIST)
        read_list(value, (size_t)bytes, stripes);
    else
        read_layout(value, (size_t)bytes, 0, stripes);
}

struct mur_stripes mur_stripes_of(int fd)
{
    struct mur_stripes stripes = {.unit = MUR_CB_MIN};
    struct statfs system;
    struct stat status;

    if (!fstat(fd, &status) && status.st_blksize >= MUR_CB_MIN && status.st_blksize % MUR_CB_MIN == 0 &&
        status.st_blksize <= LARGEST_UNIT)
        stripes.unit = (long)status.st_blksize;
    if (!fstatfs(fd, &system) && (uint32_t)system.f_type == LUSTRE)
        ask_lustre(fd, &stripes);
    return stripes;
}

/* The largest part of a unit that is not larger than `most`; not one that is very small. */
static long part_of_unit(long unit, long most)
{
    long parts = (unit + most - 1) / most;

    while (unit % parts || unit / parts % MUR_CB_MIN)
        parts++;
    return unit / parts < most / 4 ? most : unit / parts;
}

long mur_stripes_cb(const struct mur_stripes *stripes, long most)
{
    long unit = stripes->unit;

    most = most < MUR_CB_MIN ? MUR_CB_MIN : most - most % MUR_CB_MIN;
    if (unit < MUR_CB_MIN || unit % MUR_CB_MIN)
        return most;
    return unit <= most ? most - most % unit : part_of_unit(unit, most);
}

MPI_Offset mur_stripes_alignment(const struct mur_stripes *stripes, MPI_Offset bytes)
{
    if (stripes->unit >= MUR_CB_MIN && bytes % stripes->unit == 0)
        return stripes->unit;
    return stripes->unit % bytes == 0 ? bytes : MUR_CB_MIN;
}
