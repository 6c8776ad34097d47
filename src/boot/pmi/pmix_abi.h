/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the binary interface of libpmix.so.2 that we use (PMIx standard 2.0 to 5.0, which keep it), declared
 * here so that neither its headers nor the library are needed to build. tests/boot compares this file with the headers
 * where they are installed. Names are the standard's with mur_ in front. */
#ifndef MUR_BOOT_PMI_PMIX_ABI_H
#define MUR_BOOT_PMI_PMIX_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    MUR_PMIX_SUCCESS = 0,
    MUR_PMIX_ERR_UNREACH = -25,
    MUR_PMIX_ERR_NOT_FOUND = -46,
    MUR_PMIX_ERR_NOT_SUPPORTED = -47,
};

enum { /* types of values */
       MUR_PMIX_BOOL = 1,
       MUR_PMIX_STRING = 3,
       MUR_PMIX_SIZE = 4,
       MUR_PMIX_INT = 6,
       MUR_PMIX_INT32 = 9,
       MUR_PMIX_UINT16 = 13,
       MUR_PMIX_UINT32 = 14,
       MUR_PMIX_UINT64 = 15,
       MUR_PMIX_PROC = 22,
};

enum { MUR_PMIX_GLOBAL = 3 };              /* scope of a put */
#define MUR_PMIX_RANK_WILDCARD 0xfffffffeu /* all ranks of the job */

#define MUR_PMIX_JOB_SIZE     "pmix.job.size"
#define MUR_PMIX_UNIV_SIZE    "pmix.univ.size"
#define MUR_PMIX_APPNUM       "pmix.appnum"
#define MUR_PMIX_ANL_MAP      "pmix.anlmap"
#define MUR_PMIX_PARENT_ID    "pmix.parent"
#define MUR_PMIX_COLLECT_DATA "pmix.collect"
#define MUR_PMIX_OPTIONAL     "pmix.optional"
#define MUR_PMIX_IMMEDIATE    "pmix.immediate"
#define MUR_PMIX_HOST         "pmix.host"
#define MUR_PMIX_HOSTFILE     "pmix.hostfile"

struct mur_pmix_proc {
    char nspace[256];
    uint32_t rank;
};

struct mur_pmix_value {
    uint16_t type;
    union {
        bool flag;
        char *string;
        size_t size;
        int integer;
        int32_t int32;
        uint16_t uint16;
        uint32_t uint32;
        uint64_t uint64;
        struct mur_pmix_proc *proc;
        void *longest[3]; /* the library has members of this size */
    } data;
};

struct mur_pmix_info {
    char key[512];
    uint32_t flags;
    struct mur_pmix_value value;
};

struct mur_pmix_pdata {
    struct mur_pmix_proc proc;
    char key[512];
    struct mur_pmix_value value;
};

struct mur_pmix_app {
    char *cmd;
    char **argv;
    char **env;
    char *cwd;
    int maxprocs;
    struct mur_pmix_info *info;
    size_t ninfo;
};

struct mur_pmix_functions {
    int (*init)(struct mur_pmix_proc *proc, struct mur_pmix_info info[], size_t ninfo);
    int (*finalize)(const struct mur_pmix_info info[], size_t ninfo);
    int (*abort)(int status, const char message[], struct mur_pmix_proc procs[], size_t nprocs);
    int (*put)(uint8_t scope, const char key[], struct mur_pmix_value *value);
    int (*commit)(void);
    int (*fence)(const struct mur_pmix_proc procs[], size_t nprocs, const struct mur_pmix_info info[], size_t ninfo);
    int (*get)(const struct mur_pmix_proc *proc, const char key[], const struct mur_pmix_info info[], size_t ninfo,
               struct mur_pmix_value **value);
    int (*publish)(const struct mur_pmix_info info[], size_t ninfo);
    int (*unpublish)(char **keys, const struct mur_pmix_info info[], size_t ninfo);
    int (*lookup)(struct mur_pmix_pdata data[], size_t ndata, const struct mur_pmix_info info[], size_t ninfo);
    int (*spawn)(const struct mur_pmix_info job_info[], size_t ninfo, const struct mur_pmix_app apps[], size_t napps,
                 char nspace[256]);
    const char *(*error_string)(int status);
};

#endif
