/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generator leaves to hands: strings whose lengths count no NUL in Fortran, the contents of datatypes,
 * detached buffers, statuses, sizes, handles side by side, truth values. */
#include <stdlib.h>
#include <string.h>

#include "fortran/fortran.h"
#include "fortran/section.h"

/* ---- Strings with a length that the caller gives */

/* A buffer for a C string that a Fortran string of this length can take. */
static char *room_for(struct mur_text *text, MPI_Fint wanted, size_t length)
{
    size_t room = wanted > 0 ? (size_t)mur_text_shown(wanted, length) : 0;

    text->all = room < sizeof text->few ? text->few : malloc(room + 1);
    return text->all;
}

void pmpi_info_get_string_(const MPI_Fint *info, const char *key, MPI_Fint *buflen, char *value, MPI_Fint *flag,
                           MPI_Fint *ierror, size_t key_length, size_t value_length)
{
    struct mur_text key_text, value_text;
    int length = *buflen > 0 ? mur_text_shown(*buflen, value_length) + 1 : *buflen, found = 0;
    char *text = room_for(&value_text, *buflen, value_length);
    int code = PMPI_Info_get_string(mur_info_in(*info), mur_text_in_stripped(&key_text, key, key_length), &length, text,
                                    &found);

    if (!code) {
        *flag = mur_logical_out(found);
        if (found && *buflen > 0)
            mur_text_out(value, value_length, text);
        if (found)
            *buflen = length - 1;
    }
    mur_text_free(&key_text);
    mur_text_free(&value_text);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_info_get_string_, info_get_string, INFO_GET_STRING)
MUR_ALL_NAMES(pmpi_info_get_string_, info_get_string_f08, INFO_GET_STRING_F08)

void pmpi_info_get_(const MPI_Fint *info, const char *key, const MPI_Fint *valuelen, char *value, MPI_Fint *flag,
                    MPI_Fint *ierror, size_t key_length, size_t value_length)
{
    struct mur_text key_text, value_text;
    int found = 0, length = mur_text_shown(*valuelen, value_length);
    char *text = room_for(&value_text, *valuelen, value_length);
    int code =
        PMPI_Info_get(mur_info_in(*info), mur_text_in_stripped(&key_text, key, key_length), length, text, &found);

    if (!code) {
        *flag = mur_logical_out(found);
        if (found)
            mur_text_out(value, value_length, text);
    }
    mur_text_free(&key_text);
    mur_text_free(&value_text);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_info_get_, info_get, INFO_GET)
MUR_ALL_NAMES(pmpi_info_get_, info_get_f08, INFO_GET_F08)

void pmpi_info_get_valuelen_(const MPI_Fint *info, const char *key, MPI_Fint *valuelen, MPI_Fint *flag,
                             MPI_Fint *ierror, size_t key_length)
{
    struct mur_text text;
    int found = 0;
    int code =
        PMPI_Info_get_valuelen(mur_info_in(*info), mur_text_in_stripped(&text, key, key_length), valuelen, &found);

    if (!code)
        *flag = mur_logical_out(found);
    mur_text_free(&text);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_info_get_valuelen_, info_get_valuelen, INFO_GET_VALUELEN)
MUR_ALL_NAMES(pmpi_info_get_valuelen_, info_get_valuelen_f08, INFO_GET_VALUELEN_F08)

void pmpi_session_get_nth_pset_(const MPI_Fint *session, const MPI_Fint *info, const MPI_Fint *n, MPI_Fint *pset_len,
                                char *pset_name, MPI_Fint *ierror, size_t pset_name_length)
{
    struct mur_text name_text;
    int length = *pset_len > 0 ? mur_text_shown(*pset_len, pset_name_length) + 1 : *pset_len;
    char *text = room_for(&name_text, *pset_len, pset_name_length);
    int code = PMPI_Session_get_nth_pset(mur_session_in(*session), mur_info_in(*info), *n, &length, text);

    if (!code) {
        if (*pset_len > 0)
            mur_text_out(pset_name, pset_name_length, text);
        *pset_len = length - 1;
    }
    mur_text_free(&name_text);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_session_get_nth_pset_, session_get_nth_pset, SESSION_GET_NTH_PSET)
MUR_ALL_NAMES(pmpi_session_get_nth_pset_, session_get_nth_pset_f08, SESSION_GET_NTH_PSET_F08)

/* ---- Datatypes and topologies */

/* Room for as many handles as the caller takes. */
static MPI_Datatype *types_list(struct mur_list *list, MPI_Count count)
{
    list->all = count <= (MPI_Count)(sizeof list->few / sizeof list->few[0]) ? list->few
                                                                             : malloc((size_t)count * sizeof(void *));
    return list->all;
}

static void contents_out(MPI_Fint *numbers, const MPI_Datatype *types, MPI_Count count)
{
    for (MPI_Count i = 0; i < count; i++)
        numbers[i] = mur_datatype_out(types[i]);
}

void pmpi_type_get_contents_(const MPI_Fint *datatype, const MPI_Fint *max_integers, const MPI_Fint *max_addresses,
                             const MPI_Fint *max_datatypes, MPI_Fint *integers, MPI_Aint *addresses,
                             MPI_Fint *datatypes, MPI_Fint *ierror)
{
    MPI_Datatype type = mur_datatype_in(*datatype);
    struct mur_list list;
    MPI_Datatype *types = types_list(&list, *max_datatypes);
    int given[3], combiner;
    int code = PMPI_Type_get_contents(type, *max_integers, *max_addresses, *max_datatypes, integers, addresses, types);

    if (!code)
        code = PMPI_Type_get_envelope(type, &given[0], &given[1], &given[2], &combiner);
    if (!code)
        contents_out(datatypes, types, given[2]);
    mur_list_free(&list);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_type_get_contents_, type_get_contents, TYPE_GET_CONTENTS)
MUR_ALL_NAMES(pmpi_type_get_contents_, type_get_contents_f08, TYPE_GET_CONTENTS_F08)

void pmpi_type_get_contents_c_f08_(const MPI_Fint *datatype, const MPI_Count *max_integers,
                                   const MPI_Count *max_addresses, const MPI_Count *max_large_counts,
                                   const MPI_Count *max_datatypes, MPI_Fint *integers, MPI_Aint *addresses,
                                   MPI_Count *large_counts, MPI_Fint *datatypes, MPI_Fint *ierror)
{
    MPI_Datatype type = mur_datatype_in(*datatype);
    struct mur_list list;
    MPI_Datatype *types = types_list(&list, *max_datatypes);
    MPI_Count given[4];
    int combiner;
    int code = PMPI_Type_get_contents_c(type, *max_integers, *max_addresses, *max_large_counts, *max_datatypes,
                                        integers, addresses, large_counts, types);

    if (!code)
        code = PMPI_Type_get_envelope_c(type, &given[0], &given[1], &given[2], &given[3], &combiner);
    if (!code)
        contents_out(datatypes, types, given[3]);
    mur_list_free(&list);
    mur_give(ierror, code);
}
MUR_LARGE_NAMES(pmpi_type_get_contents_c_f08_, type_get_contents, TYPE_GET_CONTENTS)

/* The length of remain_dims is that of the topology. */
void pmpi_cart_sub_(const MPI_Fint *comm, const MPI_Fint *remain_dims, MPI_Fint *newcomm, MPI_Fint *ierror)
{
    MPI_Comm comm_value = mur_comm_in(*comm), newcomm_value;
    struct mur_list list;
    int *remain = mur_logicals_in(&list, remain_dims, mur_neighbors(comm_value, true) / 2);
    int code = PMPI_Cart_sub(comm_value, remain, &newcomm_value);

    if (!code)
        *newcomm = mur_comm_out(newcomm_value);
    mur_list_free(&list);
    mur_give(ierror, code);
}
MUR_OTHER_NAMES(pmpi_cart_sub_, cart_sub, CART_SUB)
MUR_ALL_NAMES(pmpi_cart_sub_, cart_sub_f08, CART_SUB_F08)

/* ---- Detached buffers: mpi_f08 gets the address, the other interfaces cannot (MPI-5.0 §3.6) */

#define MUR_DETACH(Stem, lower, UPPER, parameter, first)                                                               \
    void pmpi_##lower##_(parameter void *unused, MPI_Fint *size, MPI_Fint *ierror)                                     \
    {                                                                                                                  \
        void *address;                                                                                                 \
                                                                                                                       \
        (void)unused;                                                                                                  \
        mur_give(ierror, PMPI_##Stem(first &address, size));                                                           \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_##lower##_, lower, UPPER)                                                                     \
    void pmpi_##lower##_f08_(parameter void **address, MPI_Fint *size, MPI_Fint *ierror)                               \
    {                                                                                                                  \
        int code = PMPI_##Stem(first address, size);                                                                   \
                                                                                                                       \
        if (!code)                                                                                                     \
            *address = mur_buffer_out(*address);                                                                       \
        mur_give(ierror, code);                                                                                        \
    }                                                                                                                  \
    MUR_OTHER_NAMES(pmpi_##lower##_f08_, lower##_f08, UPPER##_F08)                                                     \
    void pmpi_##lower##_c_f08_(parameter void **address, MPI_Count *size, MPI_Fint *ierror)                            \
    {                                                                                                                  \
        int code = PMPI_##Stem##_c(first address, size);                                                               \
                                                                                                                       \
        if (!code)                                                                                                     \
            *address = mur_buffer_out(*address);                                                                       \
        mur_give(ierror, code);                                                                                        \
    }                                                                                                                  \
    MUR_LARGE_NAMES(pmpi_##lower##_c_f08_, lower, UPPER)
#define MUR_NOTHING
#define MUR_COMM_PARAMETER    const MPI_Fint *comm,
#define MUR_COMM_FIRST        mur_comm_in(*comm),
#define MUR_SESSION_PARAMETER const MPI_Fint *session,
#define MUR_SESSION_FIRST     mur_session_in(*session),
MUR_DETACH(Buffer_detach, buffer_detach, BUFFER_DETACH, MUR_NOTHING, MUR_NOTHING)
MUR_DETACH(Comm_detach_buffer, comm_detach_buffer, COMM_DETACH_BUFFER, MUR_COMM_PARAMETER, MUR_COMM_FIRST)
MUR_DETACH(Session_detach_buffer, session_detach_buffer, SESSION_DETACH_BUFFER, MUR_SESSION_PARAMETER,
           MUR_SESSION_FIRST)

/* ---- Statuses have one layout in C, as array and as derived type */

static void status_copy(const MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)
{
    memcpy(to, from, sizeof(MPI_Status));
    mur_give(ierror, MPI_SUCCESS);
}
MUR_ALL_NAMES(status_copy, status_f2f08, STATUS_F2F08)
MUR_ALL_NAMES(status_copy, status_f082f, STATUS_F082F)
MUR_ALL_NAMES(status_copy, status_f2f08_f08, STATUS_F2F08_F08)
MUR_ALL_NAMES(status_copy, status_f082f_f08, STATUS_F082F_F08)

/* ---- What C does not have */

void PMPI_Sizeof_f08ts(const struct mur_descriptor *x, MPI_Fint *size, MPI_Fint *ierror)
{
    *size = (MPI_Fint)x->elem_len;
    mur_give(ierror, MPI_SUCCESS);
}
MUR_WEAK(MPI_Sizeof_f08ts, PMPI_Sizeof_f08ts)

/* The compiler must assume that the call reads and writes the buffer, which is all that it is for. */
void PMPI_F_sync_reg_f08ts(const struct mur_descriptor *buf)
{
    (void)buf;
}
MUR_WEAK(MPI_F_sync_reg_f08ts, PMPI_F_sync_reg_f08ts)

void pmpi_f_sync_reg_(void *buf)
{
    (void)buf;
}
MUR_OTHER_NAMES(pmpi_f_sync_reg_, f_sync_reg, F_SYNC_REG)

/* Two handles are the same object if their numbers are. */
static MPI_Fint are_equal(const MPI_Fint *a, const MPI_Fint *b)
{
    return mur_logical_out(*a == *b);
}

static MPI_Fint do_differ(const MPI_Fint *a, const MPI_Fint *b)
{
    return mur_logical_out(*a != *b);
}

MUR_COMPARISONS(comm, COMM)
MUR_COMPARISONS(datatype, DATATYPE)
MUR_COMPARISONS(errhandler, ERRHANDLER)
MUR_COMPARISONS(file, FILE)
MUR_COMPARISONS(group, GROUP)
MUR_COMPARISONS(info, INFO)
MUR_COMPARISONS(message, MESSAGE)
MUR_COMPARISONS(op, OP)
MUR_COMPARISONS(request, REQUEST)
MUR_COMPARISONS(session, SESSION)
MUR_COMPARISONS(win, WIN)
