/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from the environment, of ours and of other launchers', which the command line then overrides; and -mca
 * settings, of which a few say something here.
 *
 * A setting is written as the option that means it, so that there is one place for each meaning. The first variable of
 * those that mean the same wins. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"

struct setting {
    const char *name;
    const struct mur_option *table;
    const char *option;
};

/* Environment variables. */
static const struct setting variables[] = {
    {"MUR_ABI", mur_program_options, "abi"},
    {"MPIEXEC_TIMEOUT", mur_job_options, "timeout"},
    {"HYDRA_LAUNCHER", mur_launcher_options, "launcher"},
    {"HYDRA_BOOTSTRAP", mur_launcher_options, "launcher"},
    {"I_MPI_HYDRA_BOOTSTRAP", mur_launcher_options, "launcher"},
    {"HYDRA_LAUNCHER_EXEC", mur_launcher_options, "launcher-exec"},
    {"HYDRA_BOOTSTRAP_EXEC", mur_launcher_options, "launcher-exec"},
    {"I_MPI_HYDRA_BOOTSTRAP_EXEC", mur_launcher_options, "launcher-exec"},
    {"HYDRA_LAUNCHER_EXTRA_ARGS", mur_launcher_options, "launcher-args"},
    {"HYDRA_LAUNCH_EXTRA_ARGS", mur_launcher_options, "launcher-args"}, /* what an operator of Kubernetes sets */
    {"HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", mur_launcher_options, "launcher-args"},
    {"I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", mur_launcher_options, "launcher-args"},
    {"MPIEXEC_RSH", mur_launcher_options, "launcher-exec"},
    {"HYDRA_RMK", mur_host_options, "rmk"},
    {"HYDRA_IFACE", mur_habit_options, "iface"},
    {"HYDRA_PROXY_RETRY_COUNT", mur_launcher_options, "wait"}, /* a second for each try */
    {"HYDRA_BINDING", mur_binding_options, "bind-to"},
    {"HYDRA_MAPPING", mur_mapping_options, "map-by"},
    {"HYDRA_CKPOINTLIB", mur_checkpoint_options, "ckpointlib"},
    {"HYDRA_CKPOINT_PREFIX", mur_checkpoint_options, "ckpoint-prefix"},
    {"HYDRA_CKPOINT_INTERVAL", mur_checkpoint_options, "ckpoint-interval"},
    {"HYDRA_CKPOINT_INT", mur_checkpoint_options, "ckpoint-interval"},
};

/* -mca NAME, or OMPI_MCA_NAME and PRTE_MCA_NAME in the environment. */
static const struct setting parameters[] = {
    {"btl_tcp_if_include", mur_habit_options, "iface"},
    {"btl_tcp_if_exclude", mur_habit_options, "iface-exclude"},
    {"plm_ssh_agent", mur_launcher_options, "launcher-exec"},
    {"plm_rsh_agent", mur_launcher_options, "launcher-exec"},
    {"orte_rsh_agent", mur_launcher_options, "launcher-exec"},
    {"plm_ssh_args", mur_launcher_options, "launcher-args"},
    {"plm_rsh_args", mur_launcher_options, "launcher-args"},
    {"plm_slurm_args", mur_launcher_options, "launcher-slurm-args"},
    {"rmaps_default_mapping_policy", mur_mapping_options, "map-by"},
    {"rmaps_base_mapping_policy", mur_mapping_options, "map-by"},
    {"hwloc_default_binding_policy", mur_binding_options, "bind-to"},
    {"hwloc_base_binding_policy", mur_binding_options, "bind-to"},
    {"orte_abort_on_non_zero_status", mur_job_options, "abort-on-nonzero-exit"},
    {"prte_abort_on_non_zero_status", mur_job_options, "abort-on-nonzero-exit"},
    {"state_base_error_non_zero_exit", mur_job_options, "abort-on-nonzero-exit"},
    {"prte_set_default_slots", mur_host_options, "default-slots"},
    {"orte_set_default_slots", mur_host_options, "default-slots"},
    /* As variables these are lists that -host replaces: hosts/managers.c reads them. */
    {"prte_default_hostfile", mur_host_options, "hostfile"},
    {"orte_default_hostfile", mur_host_options, "hostfile"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_list(const struct setting *setting)
{
    return strcmp(setting->option, "hostfile") == 0;
}

/* An agent may be several commands of which the first one that is there is meant, "ssh : rsh": take the first. */
static int apply(struct mur_parser *parser, const struct setting *setting, const char *value)
{
    if (strcmp(setting->option, "launcher-exec") == 0 && strchr(value, ':'))
        value = mur_alloc_text("%.*s", (int)strcspn(value, ":"), value);
    return mur_parser_apply(parser, setting->table, setting->option, value);
}

int mur_setting_apply(struct mur_parser *parser, const char *name, const char *value, bool *is_known)
{
    *is_known = false;
    for (size_t i = 0; i < COUNT(parameters); i++)
        if (strcmp(name, parameters[i].name) == 0) {
            *is_known = true;
            parser->option = name;
            return apply(parser, &parameters[i], value);
        }
    return 0;
}

/* The first variable of a meaning wins: those before the i'th of this table are looked at once more. */
static bool is_set_before(const struct setting *table, size_t i, const char *prefix)
{
    for (size_t k = 0; k < i; k++) {
        char *name = mur_alloc_text("%s%s", prefix, table[k].name);
        const char *value = getenv(name);

        free(name);
        if (value && *value && strcmp(table[k].option, table[i].option) == 0)
            return true;
    }
    return false;
}

static int apply_table(struct mur_parser *parser, const struct setting *table, size_t count, const char *prefix)
{
    for (size_t i = 0; i < count; i++) {
        char *name = mur_alloc_text("%s%s", prefix, table[i].name);
        const char *value = getenv(name);
        int rc;

        parser->option = name; /* which messages keep */
        if (!value || !*value || (*prefix && is_list(&table[i])) || is_set_before(table, i, prefix))
            continue;
        rc = apply(parser, &table[i], value);
        if (rc)
            return rc;
    }
    return 0;
}

static bool is_text(const char *name, const char *a, const char *b, const char *c)
{
    const char *value = getenv(name);

    return value && (strcasecmp(value, a) == 0 || strcasecmp(value, b) == 0 || strcasecmp(value, c) == 0);
}

/* Variables with values of their own kind. */
static int apply_others(struct mur_parser *parser)
{
    struct mur_jobspec *job = parser->job;
    const char *per_host = getenv("I_MPI_PERHOST");

    if (is_text("HYDRA_ENV", "none", "none", "none") || is_text("I_MPI_HYDRA_ENV", "none", "none", "none"))
        job->inheritance.passing = MUR_PASS_NONE;
    job->launcher.is_for_local = is_text("HYDRA_LAUNCHER_AUTOFORK", "0", "no", "false") ||
                                 is_text("HYDRA_LAUNCHER_AUTOFORK", "off", "disable", "n");
    if (getenv("HYDRA_DEBUG") && *getenv("HYDRA_DEBUG") && !is_text("HYDRA_DEBUG", "0", "no", "false"))
        job->is_verbose = true;
    if (!job->launcher.name && getenv("MPIEXEC_SMPD") && *getenv("MPIEXEC_SMPD") &&
        !is_text("MPIEXEC_SMPD", "0", "no", "false"))
        job->launcher.name = "smpd";
    if (getenv("SSHD_PORT") && *getenv("SSHD_PORT") && !job->launcher.options) {
        int rc;

        parser->option = "SSHD_PORT";
        rc = mur_parser_apply(parser, mur_launcher_options, "launcher-args",
                              mur_alloc_text("-p %s", getenv("SSHD_PORT")));
        if (rc)
            return rc;
    }
    /* Its words mean what no option means. */
    if (per_host && *per_host && !is_text("I_MPI_PERHOST", "all", "allcores", "off")) {
        parser->option = "I_MPI_PERHOST";
        return mur_parser_apply(parser, mur_mapping_options, "ppn", per_host);
    }
    return 0;
}

int mur_defaults_apply(struct mur_parser *parser)
{
    struct mur_launcher *launcher = &parser->job->launcher;
    int rc = apply_table(parser, parameters, COUNT(parameters), "OMPI_MCA_");

    rc = rc ? rc : apply_table(parser, parameters, COUNT(parameters), "PRTE_MCA_");
    rc = rc ? rc : apply_table(parser, variables, COUNT(variables), "");
    rc = rc ? rc : apply_others(parser);
    if (launcher->name && strcmp(launcher->name, "slurm") == 0 && launcher->options) {
        launcher->slurm_options = launcher->options; /* Slurm sets these in every job; they are none for ssh */
        launcher->options = NULL;
    }
    return rc;
}
