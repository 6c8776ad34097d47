/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, truth values, and spawn with its arrays of strings (MPI-5.0 chapter 11, §20.3). */
#include <stdlib.h>
#include <string.h>

#include "fortran/fortran.h"

/* ---- What C must know about this Fortran, and this Fortran about the compiler */

/* Takes over what somebody has told MPI_Abi_set_fortran_booleans; tells it the usual values where nobody has. */
static void agree_on_booleans(void)
{
    MPI_Fint yes, no;
    int is_set;

    if (PMPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &is_set))
        return;
    if (is_set) {
        mur_fortran_true = yes;
        mur_fortran_false = no;
    } else {
        PMPI_Abi_set_fortran_booleans(sizeof yes, &mur_fortran_true, &mur_fortran_false);
    }
}

/* Tells the sizes of the types that this library is made for, where MPI does not know them. */
static void agree_on_sizes(void)
{
    static const char *const sizes[][2] = {{"mpi_logical_size", "4"},
                                           {"mpi_integer_size", "4"},
                                           {"mpi_real_size", "4"},
                                           {"mpi_double_precision_size", "8"}};
    MPI_Info info;

    if (PMPI_Abi_get_fortran_info(&info))
        return;
    if (info == MPI_INFO_NULL && !PMPI_Info_create(&info)) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            PMPI_Info_set(info, sizes[i][0], sizes[i][1]);
        PMPI_Abi_set_fortran_info(info);
    }
    PMPI_Info_free(&info);
}

/* After MPI has started: not every MPI can tell before. */
static int agree(int code)
{
    if (!code) {
        agree_on_booleans();
        agree_on_sizes();
    }
    return code;
}

void pmpi_init_(MPI_Fint *ierror)
{
    mur_give(ierror, agree(PMPI_Init(NULL, NULL)));
}
MUR_OTHER_NAMES(pmpi_init_, init, INIT)
MUR_ALL_NAMES(pmpi_init_, init_f08, INIT_F08)

void pmpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    mur_give(ierror, agree(PMPI_Init_thread(NULL, NULL, *required, provided)));
}
MUR_OTHER_NAMES(pmpi_init_thread_, init_thread, INIT_THREAD)
MUR_ALL_NAMES(pmpi_init_thread_, init_thread_f08, INIT_THREAD_F08)

void pmpi_abi_set_fortran_booleans_(const MPI_Fint *logical_size, void *logical_true, void *logical_false,
                                    MPI_Fint *ierror)
{
    int code = PMPI_Abi_set_fortran_booleans(*logical_size, logical_true, logical_false);

    if (!code)
        agree_on_booleans();
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_abi_set_fortran_booleans_, abi_set_fortran_booleans, ABI_SET_FORTRAN_BOOLEANS)
MUR_ALL_NAMES(pmpi_abi_set_fortran_booleans_, abi_set_fortran_booleans_f08, ABI_SET_FORTRAN_BOOLEANS_F08)

void pmpi_abi_get_fortran_booleans_(const MPI_Fint *logical_size, void *logical_true, void *logical_false,
                                    MPI_Fint *is_set, MPI_Fint *ierror)
{
    int is_known = 0;
    int code = PMPI_Abi_get_fortran_booleans(*logical_size, logical_true, logical_false, &is_known);

    if (!code)
        *is_set = mur_logical_out(is_known);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_abi_get_fortran_booleans_, abi_get_fortran_booleans, ABI_GET_FORTRAN_BOOLEANS)
MUR_ALL_NAMES(pmpi_abi_get_fortran_booleans_, abi_get_fortran_booleans_f08, ABI_GET_FORTRAN_BOOLEANS_F08)

/* A Fortran program has no argc and argv; the library finds them by itself. */
void pmpi_info_create_env_(MPI_Fint *info, MPI_Fint *ierror)
{
    MPI_Info info_value;
    int code = PMPI_Info_create_env(0, NULL, &info_value);

    if (!code)
        *info = mur_info_out(info_value);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_info_create_env_, info_create_env, INFO_CREATE_ENV)
MUR_ALL_NAMES(pmpi_info_create_env_, info_create_env_f08, INFO_CREATE_ENV_F08)

void pmpi_pcontrol_(const MPI_Fint *level)
{
    PMPI_Pcontrol(*level);
}
MUR_OTHER_NAMES(pmpi_pcontrol_, pcontrol, PCONTROL)
MUR_ALL_NAMES(pmpi_pcontrol_, pcontrol_f08, PCONTROL_F08)

/* ---- Spawn */

static size_t trimmed(const char *string, size_t length)
{
    while (length > 0 && string[length - 1] == ' ')
        length--;
    return length;
}

/* `count` strings of Fortran, `stride` bytes apart, as a NULL-terminated array in one allocation; NULL: no memory. */
static char **strings_in(const char *strings, size_t length, size_t stride, int count)
{
    char **all = malloc((size_t)(count + 1) * sizeof *all + (size_t)count * (length + 1));
    char *place = (char *)(all + count + 1);

    if (!all)
        return NULL;
    for (int i = 0; i < count; i++, place += length + 1) {
        size_t used = trimmed(strings + (size_t)i * stride, length);

        memcpy(place, strings + (size_t)i * stride, used);
        place[used] = '\0';
        all[i] = place;
    }
    all[count] = NULL;
    return all;
}

/* The arguments of one command: a blank string ends them. */
static char **arguments_in(const char *strings, size_t length, size_t stride)
{
    int count = 0;

    while (trimmed(strings + (size_t)count * stride, length) > 0)
        count++;
    return strings_in(strings, length, stride, count);
}

/* Strings and infos are significant at the root only, and may be anything elsewhere. */
static bool is_root(MPI_Comm comm, int root)
{
    int is_initialized = 0, rank = -1;

    PMPI_Initialized(&is_initialized);
    return is_initialized && comm != MPI_COMM_NULL && !PMPI_Comm_rank(comm, &rank) && rank == root;
}

static int *errcodes_in(MPI_Fint *array_of_errcodes)
{
    return mur_is_special(array_of_errcodes) ? MPI_ERRCODES_IGNORE : array_of_errcodes;
}

void pmpi_comm_spawn_(const char *command, const char *argv, const MPI_Fint *maxprocs, const MPI_Fint *info,
                      const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes,
                      MPI_Fint *ierror, size_t command_length, size_t argv_length)
{
    MPI_Comm comm_value = mur_comm_in(*comm), intercomm_value;
    bool is_significant = is_root(comm_value, *root);
    char **arguments = !is_significant || mur_is_special(argv) ? NULL : arguments_in(argv, argv_length, argv_length);
    struct mur_text text = {.all = text.few};
    int code = PMPI_Comm_spawn(is_significant ? mur_text_in(&text, command, command_length) : "", arguments, *maxprocs,
                               is_significant ? mur_info_in(*info) : MPI_INFO_NULL, *root, comm_value, &intercomm_value,
                               errcodes_in(array_of_errcodes));

    if (!code)
        *intercomm = mur_comm_out(intercomm_value);
    free(arguments);
    mur_text_free(&text);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_comm_spawn_, comm_spawn, COMM_SPAWN)
MUR_ALL_NAMES(pmpi_comm_spawn_, comm_spawn_f08, COMM_SPAWN_F08)

/* The arguments of all commands: array_of_argv(count, *), so those of a command are `count` strings apart. */
static char ***all_arguments_in(const char *strings, size_t length, int count)
{
    char ***all = calloc((size_t)count, sizeof *all);

    for (int i = 0; all && i < count; i++)
        all[i] = arguments_in(strings + (size_t)i * length, length, (size_t)count * length);
    return all;
}

void pmpi_comm_spawn_multiple_(const MPI_Fint *count, const char *array_of_commands, const char *array_of_argv,
                               const MPI_Fint *array_of_maxprocs, const MPI_Fint *array_of_info, const MPI_Fint *root,
                               const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror,
                               size_t command_length, size_t argv_length)
{
    MPI_Comm comm_value = mur_comm_in(*comm), intercomm_value;
    bool is_significant = is_root(comm_value, *root) && *count > 0;
    int given = is_significant ? *count : 0, code;
    char **commands = strings_in(array_of_commands, command_length, command_length, given);
    char ***arguments =
        given && !mur_is_special(array_of_argv) ? all_arguments_in(array_of_argv, argv_length, given) : MPI_ARGVS_NULL;
    struct mur_list infos;

    code = PMPI_Comm_spawn_multiple(*count, commands, arguments, array_of_maxprocs,
                                    mur_infos_in(&infos, array_of_info, given), *root, comm_value, &intercomm_value,
                                    errcodes_in(array_of_errcodes));
    if (!code)
        *intercomm = mur_comm_out(intercomm_value);
    for (int i = 0; arguments && i < given; i++)
        free(arguments[i]);
    free(arguments);
    free(commands);
    mur_list_free(&infos);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_comm_spawn_multiple_, comm_spawn_multiple, COMM_SPAWN_MULTIPLE)
MUR_ALL_NAMES(pmpi_comm_spawn_multiple_, comm_spawn_multiple_f08, COMM_SPAWN_MULTIPLE_F08)
