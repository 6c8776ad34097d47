/* SPDX-License-Identifier: BSD-3-Clause */
/* Our declarations of libpmix's binary interface are those of its headers. It is the compiler that checks. */
#include <pmix.h>

#include "boot/pmi/pmix_abi.h"

#define SAME(condition) _Static_assert(condition, #condition)
#define SAME_TYPE(a, b) _Static_assert(sizeof(a) == sizeof(b) && _Alignof(a) == _Alignof(b), #a " is " #b)
#define SAME_PLACE(a, b, member)                                                                                       \
    _Static_assert(offsetof(a, member) == offsetof(b, member), #member " of " #a " is where it is in " #b)

SAME_TYPE(struct mur_pmix_proc, pmix_proc_t);
SAME_PLACE(struct mur_pmix_proc, pmix_proc_t, rank);
SAME_TYPE(struct mur_pmix_value, pmix_value_t);
SAME_PLACE(struct mur_pmix_value, pmix_value_t, data);
SAME_TYPE(struct mur_pmix_info, pmix_info_t);
SAME_PLACE(struct mur_pmix_info, pmix_info_t, flags);
SAME_PLACE(struct mur_pmix_info, pmix_info_t, value);
SAME_TYPE(struct mur_pmix_pdata, pmix_pdata_t);
SAME_PLACE(struct mur_pmix_pdata, pmix_pdata_t, key);
SAME_PLACE(struct mur_pmix_pdata, pmix_pdata_t, value);
SAME_TYPE(struct mur_pmix_app, pmix_app_t);
SAME_PLACE(struct mur_pmix_app, pmix_app_t, argv);
SAME_PLACE(struct mur_pmix_app, pmix_app_t, env);
SAME_PLACE(struct mur_pmix_app, pmix_app_t, cwd);
SAME_PLACE(struct mur_pmix_app, pmix_app_t, maxprocs);
SAME_PLACE(struct mur_pmix_app, pmix_app_t, info);
SAME_PLACE(struct mur_pmix_app, pmix_app_t, ninfo);

SAME_TYPE(uint8_t, pmix_scope_t);
SAME_TYPE(int, pmix_status_t);
SAME_TYPE(char[256], pmix_nspace_t);
SAME(MUR_PMIX_SUCCESS == PMIX_SUCCESS);
SAME(MUR_PMIX_ERR_UNREACH == PMIX_ERR_UNREACH);
SAME(MUR_PMIX_ERR_NOT_FOUND == PMIX_ERR_NOT_FOUND);
SAME(MUR_PMIX_ERR_NOT_SUPPORTED == PMIX_ERR_NOT_SUPPORTED);
SAME(MUR_PMIX_BOOL == PMIX_BOOL);
SAME(MUR_PMIX_STRING == PMIX_STRING);
SAME(MUR_PMIX_SIZE == PMIX_SIZE);
SAME(MUR_PMIX_INT == PMIX_INT);
SAME(MUR_PMIX_INT32 == PMIX_INT32);
SAME(MUR_PMIX_UINT16 == PMIX_UINT16);
SAME(MUR_PMIX_UINT32 == PMIX_UINT32);
SAME(MUR_PMIX_UINT64 == PMIX_UINT64);
SAME(MUR_PMIX_PROC == PMIX_PROC);
SAME(MUR_PMIX_GLOBAL == PMIX_GLOBAL);
SAME(MUR_PMIX_RANK_WILDCARD == (PMIX_RANK_WILDCARD));

/* Names of keys are compared when the program runs. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char *const keys[][2] = {
        {MUR_PMIX_JOB_SIZE, PMIX_JOB_SIZE},   {MUR_PMIX_UNIV_SIZE, PMIX_UNIV_SIZE},
        {MUR_PMIX_APPNUM, PMIX_APPNUM},       {MUR_PMIX_ANL_MAP, PMIX_ANL_MAP},
        {MUR_PMIX_PARENT_ID, PMIX_PARENT_ID}, {MUR_PMIX_COLLECT_DATA, PMIX_COLLECT_DATA},
        {MUR_PMIX_OPTIONAL, PMIX_OPTIONAL},   {MUR_PMIX_IMMEDIATE, PMIX_IMMEDIATE},
        {MUR_PMIX_HOST, PMIX_HOST},           {MUR_PMIX_HOSTFILE, PMIX_HOSTFILE},
    };
    int failures = 0;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i][0], keys[i][1]) != 0)
            failures += printf("'%s' should be '%s'\n", keys[i][0], keys[i][1]) > 0;
    return failures > 0;
}
