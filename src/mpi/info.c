/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects (MPI-5.0 §10). */
#include "object/info.h"

#include <string.h>

#include "base/error.h"
#include "mpi/bodies.h"

static int check_key(const char *key)
{
    size_t length = strnlen(key, MPI_MAX_INFO_KEY);

    if (length == 0)
        return mur_error(MPI_ERR_INFO_KEY, "the key is empty");
    if (length == MPI_MAX_INFO_KEY)
        return mur_error(MPI_ERR_INFO_KEY, "the key \"%.40s...\" is too long: at most %d characters are allowed", key,
                         MPI_MAX_INFO_KEY - 1);
    return MPI_SUCCESS;
}

static int check_writable(const struct mur_info *info)
{
    return info->object.predefined ? mur_error(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed") : MPI_SUCCESS;
}

int mur_mpi_info_create(MPI_Info *handle)
{
    struct mur_info *info = NULL;
    int rc = mur_info_create(&info);

    if (!rc)
        *handle = mur_object_handle(info);
    return rc;
}

int mur_mpi_info_create_env(int argc, char *argv[], MPI_Info *handle)
{
    struct mur_info *info = NULL;
    int rc = mur_info_create(&info);

    if (rc)
        return rc;
    rc = mur_info_describe_start(info, argv ? argc : 0, argv, mur_info_maxprocs(), NULL);
    if (rc) {
        mur_info_free(info);
        return rc;
    }
    *handle = mur_object_handle(info);
    return MPI_SUCCESS;
}

int mur_mpi_info_dup(struct mur_info *info, MPI_Info *handle)
{
    struct mur_info *copy = NULL;
    int rc = mur_info_dup(info, &copy);

    if (!rc)
        *handle = mur_object_handle(copy);
    return rc;
}

int mur_mpi_info_free(MPI_Info *handle)
{
    struct mur_info *info = mur_info_find(*handle);

    if (!info)
        return mur_error(MPI_ERR_INFO, "%s, but must be a live info object",
                         *handle == MPI_INFO_NULL ? "the info is MPI_INFO_NULL" : "the handle is not an info's");
    if (info->object.predefined)
        return mur_error(MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
    mur_info_free(info);
    *handle = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int mur_mpi_info_set(struct mur_info *info, const char *key, const char *value)
{
    int rc = check_writable(info);

    if (!rc)
        rc = check_key(key);
    if (rc)
        return rc;
    if (strnlen(value, MPI_MAX_INFO_VAL) == MPI_MAX_INFO_VAL)
        return mur_error(MPI_ERR_INFO_VALUE, "the value of \"%s\" is too long: at most %d characters are allowed", key,
                         MPI_MAX_INFO_VAL - 1);
    return mur_info_set(info, key, value);
}

int mur_mpi_info_delete(struct mur_info *info, const char *key)
{
    int rc = check_writable(info);

    if (!rc)
        rc = check_key(key);
    if (rc)
        return rc;
    if (!mur_info_delete(info, key))
        return mur_error(MPI_ERR_INFO_NOKEY, "the info object has no key \"%s\"", key);
    return MPI_SUCCESS;
}

/* Copies as much of the value as fits into `bytes` (more than 0), with a NUL at the end. */
static void copy_value(char *to, const char *value, size_t bytes)
{
    size_t length = strnlen(value, bytes - 1);

    memcpy(to, value, length);
    to[length] = '\0';
}

int mur_mpi_info_get_string(struct mur_info *info, const char *key, int *buflen, char *value, int *flag)
{
    const char *found;
    int rc = check_key(key);

    if (rc)
        return rc;
    if (*buflen < 0)
        return mur_error(MPI_ERR_ARG, "*buflen is %d, but must not be negative", *buflen);
    found = mur_info_get(info, key);
    *flag = found != NULL;
    if (!found)
        return MPI_SUCCESS;
    if (*buflen > 0)
        copy_value(value, found, (size_t)*buflen);
    *buflen = (int)strlen(found) + 1;
    return MPI_SUCCESS;
}

int mur_mpi_info_get(struct mur_info *info, const char *key, int valuelen, char *value, int *flag)
{
    const char *found;
    int rc = check_key(key);

    if (rc)
        return rc;
    if (valuelen < 0)
        return mur_error(MPI_ERR_ARG, "valuelen is %d, but must not be negative", valuelen);
    found = mur_info_get(info, key);
    *flag = found != NULL;
    if (found)
        copy_value(value, found, (size_t)valuelen + 1);
    return MPI_SUCCESS;
}

int mur_mpi_info_get_valuelen(struct mur_info *info, const char *key, int *valuelen, int *flag)
{
    const char *found;
    int rc = check_key(key);

    if (rc)
        return rc;
    found = mur_info_get(info, key);
    *flag = found != NULL;
    if (found)
        *valuelen = (int)strlen(found);
    return MPI_SUCCESS;
}

int mur_mpi_info_get_nkeys(struct mur_info *info, int *nkeys)
{
    *nkeys = info->count;
    return MPI_SUCCESS;
}

int mur_mpi_info_get_nthkey(struct mur_info *info, int n, char *key)
{
    if (n < 0 || n >= info->count)
        return mur_error(MPI_ERR_ARG, "n is %d, but the info object has %d keys, counted from 0", n, info->count);
    copy_value(key, info->entries[n].key, MPI_MAX_INFO_KEY);
    return MPI_SUCCESS;
}
