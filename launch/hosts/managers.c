/* SPDX-License-Identifier: BSD-3-Clause */
/* Resource managers by what they leave in the environment of a job; one function a manager, one row a function.
 *
 * What they say is checked like a user's file: a list that does not hold together is an error, not a smaller job. */
#include "launch/hosts/managers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/alloc.h"
#include "launch/hosts/slurm.h"

struct manager {
    const char *name;
    const char *title;
    /* The variable that holds the list, or the file's name; NULL: we do not run under this manager. */
    const char *(*find)(void);
    bool (*add)(struct mur_hosts *hosts, const char *variable, struct mur_problem *problem);
};

/* The value of a variable, NULL when that says nothing. */
static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* Puts the variable's name before what is wrong with its value. */
static bool blame(struct mur_problem *problem, const char *variable)
{
    struct mur_problem what = *problem;

    return mur_problem_set(problem, "%s: %.900s", variable, what.text);
}

static bool add_file(struct mur_hosts *hosts, const char *variable, struct mur_problem *problem)
{
    return mur_hosts_add_file(hosts, getenv(variable), problem) || blame(problem, variable);
}

static bool add_list(struct mur_hosts *hosts, const char *variable, struct mur_problem *problem)
{
    return mur_hosts_add_list(hosts, getenv(variable), problem) || blame(problem, variable);
}

/* ---- the words of a variable ---- */

/* Takes the next word between blanks from *text; false at the end. */
static bool take_word(const char **text, const char **word, size_t *length)
{
    *text += strspn(*text, " \t\r\n");
    *word = *text;
    *length = strcspn(*text, " \t\r\n");
    *text += *length;
    return *length > 0;
}

/* LSF: host and number, host and number, ... or simply each host as often as it has slots. */
static bool add_lsf(struct mur_hosts *hosts, const char *variable, struct mur_problem *problem)
{
    const char *text = getenv(variable);
    bool has_numbers = strcmp(variable, "LSB_MCPU_HOSTS") == 0;
    const char *word;
    size_t length;

    while (take_word(&text, &word, &length)) {
        struct mur_host more = {.has_slots = has_numbers};
        const char *number;
        size_t digits;

        if (has_numbers &&
            (!take_word(&text, &number, &digits) || !mur_number_read(number, digits, 0, MUR_SLOTS_MAX, &more.slots))) {
            mur_problem_set(problem, "a number of slots is wanted behind '%.*s'", length < 80 ? (int)length : 80, word);
            return blame(problem, variable);
        }
        if (!mur_hosts_add_word(hosts, word, length, &more, problem))
            return blame(problem, variable);
    }
    return true;
}

/* SGE: lines `host slots queue processors`. */
static bool add_sge(struct mur_hosts *hosts, const char *variable, struct mur_problem *problem)
{
    size_t length;
    char *file = mur_hosts_read_file(getenv(variable), &length, problem);
    char *next = file;
    char *line;
    int number = 0;
    bool is_good = file != NULL;

    while (is_good && (line = strsep(&next, "\n"))) {
        struct mur_host more = {.has_slots = true};
        const char *text = line;
        const char *word;
        const char *slots;
        size_t digits;

        number++;
        if (!take_word(&text, &word, &length))
            continue;
        if (!take_word(&text, &slots, &digits) || !mur_number_read(slots, digits, 0, MUR_SLOTS_MAX, &more.slots))
            is_good = mur_problem_set(problem, "%s, line %d: a number of slots is wanted behind '%.*s'",
                                      getenv(variable), number, length < 80 ? (int)length : 80, word);
        else
            is_good = mur_hosts_add_word(hosts, word, length, &more, problem);
    }
    free(file);
    return is_good || blame(problem, variable);
}

/* ---- who is there ---- */

static const char *find_slurm(void)
{
    if (setting("SLURM_JOB_NODELIST"))
        return "SLURM_JOB_NODELIST";
    return setting("SLURM_NODELIST") ? "SLURM_NODELIST" : NULL;
}

static const char *find_lsf(void)
{
    if (setting("LSB_MCPU_HOSTS"))
        return "LSB_MCPU_HOSTS";
    return setting("LSB_HOSTS") ? "LSB_HOSTS" : NULL;
}

static const char *find_sge(void)
{
    return setting("PE_HOSTFILE") ? "PE_HOSTFILE" : NULL;
}

static const char *find_pbs(void)
{
    return setting("PBS_NODEFILE") ? "PBS_NODEFILE" : NULL;
}

static const char *find_cobalt(void)
{
    return setting("COBALT_NODEFILE") ? "COBALT_NODEFILE" : NULL;
}

static const char *find_ll(void)
{
    return setting("LOADL_HOSTFILE") ? "LOADL_HOSTFILE" : NULL;
}

static const char *find_volcano(void) /* MPI_HOST alone is anybody's name */
{
    return setting("MPI_HOST") && (setting("VC_TASK_INDEX") || setting("VK_TASK_INDEX")) ? "MPI_HOST" : NULL;
}

/* In the order in which they are looked for. */
static const struct manager managers[] = {
    {"slurm", "Slurm", find_slurm, mur_slurm_add_hosts},
    {"ll", "LoadLeveler", find_ll, add_file},
    {"lsf", "LSF", find_lsf, add_lsf},
    {"sge", "Grid Engine", find_sge, add_sge},
    {"pbs", "PBS", find_pbs, add_file},
    {"cobalt", "Cobalt", find_cobalt, add_file},
    {"volcano", "Volcano", find_volcano, add_list},
};

#define MANAGER_COUNT (sizeof managers / sizeof managers[0])

bool mur_manager_is_known(const char *name)
{
    if (strcasecmp(name, "user") == 0 || strcasecmp(name, "none") == 0)
        return true;
    for (size_t i = 0; i < MANAGER_COUNT; i++)
        if (strcasecmp(name, managers[i].name) == 0)
            return true;
    return false;
}

bool mur_hosts_from_manager(struct mur_hosts *hosts, const char *only, const char **source, struct mur_problem *problem)
{
    *source = NULL;
    for (size_t i = 0; i < MANAGER_COUNT; i++) {
        const char *variable = managers[i].find();

        if (!variable || (only && strcasecmp(only, managers[i].name) != 0))
            continue;
        *source = managers[i].title;
        return managers[i].add(hosts, variable, problem);
    }
    return true;
}

bool mur_hosts_from_settings(struct mur_hosts *hosts, const char **source, struct mur_problem *problem)
{
    static const char *const files[] = {"MUR_HOSTFILE",
                                        "HYDRA_HOST_FILE",
                                        "I_MPI_HYDRA_HOST_FILE",
                                        "PRTE_MCA_prte_default_hostfile",
                                        "OMPI_MCA_prte_default_hostfile",
                                        "OMPI_MCA_orte_default_hostfile"};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (setting(files[i])) {
            *source = files[i];
            return add_file(hosts, files[i], problem);
        }
    *source = setting("I_MPI_HYDRA_HOSTS_GROUP") ? "I_MPI_HYDRA_HOSTS_GROUP" : NULL;
    return !*source || add_list(hosts, *source, problem);
}
