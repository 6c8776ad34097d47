/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about binding ranks to CPUs. */
#include "launch/options/parser.h"

static int set_bind_to(struct mur_parser *parser, const char *value)
{
    struct mur_problem problem;

    if (!mur_binding_read(&parser->job->binding, value, &problem))
        return mur_parser_fail(parser, "%s %s", parser->option, problem.text);
    return 0;
}

static int set_bind_to_core(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_bind_to(parser, "core");
}

static int set_bind_to_socket(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_bind_to(parser, "socket");
}

static int set_bind_to_none(struct mur_parser *parser, const char *value)
{
    (void)value;
    return set_bind_to(parser, "none");
}

static int set_cores_each(struct mur_parser *parser, const char *value)
{
    int rc = mur_parser_read_number(parser, value, "a number of cores", 1, 1024, &parser->job->binding.width);

    if (rc == 0 && !parser->job->binding.is_explicit)
        parser->job->binding.bind = MUR_PART_CORE;
    return rc;
}

static int set_reported(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->binding.is_reported = true;
    return 0;
}

static int set_cpu_list(struct mur_parser *parser, const char *value)
{
    struct mur_problem problem;

    if (!mur_binding_read_cpus(&parser->job->binding, value, &problem))
        return mur_parser_fail(parser, "%s %s", parser->option, problem.text);
    return 0;
}

static int set_cpu_set(struct mur_parser *parser, const char *value)
{
    struct mur_problem problem;

    if (!mur_binding_read_limit(&parser->job->binding, value, &problem))
        return mur_parser_fail(parser, "%s %s", parser->option, problem.text);
    return 0;
}

const struct mur_option mur_binding_options[] = {
    {"bind-to", "OBJECT", set_bind_to,
     "none (default), hwthread, core, l1cache to l5cache, numa, socket; OBJECT:N for N each; user:0,1+2,4-7 for the "
     "CPUs of each rank of a host; auto: cores where there are as many as ranks"},
    {"binding", "OBJECT", set_bind_to, NULL},
    {"cpu-list", "CPU,CPU,...", set_cpu_list, "the ranks of a host get one of these CPUs each: 0,2-5"},
    {"cpu-set", "CPU,CPU,...", set_cpu_set, "all ranks of a host must do with these CPUs: 0,2-5"},
    {"bind-to-core", NULL, set_bind_to_core, "-bind-to core"},
    {"bind-to-socket", NULL, set_bind_to_socket, "-bind-to socket"},
    {"bind-to-none", NULL, set_bind_to_none, "-bind-to none"},
    {"cpus-per-rank", "N", set_cores_each, "bind each rank to N cores"},
    {"cpus-per-proc", "N", set_cores_each, NULL},
    {"report-bindings", NULL, set_reported, "say which rank was bound to which CPUs"},
    {NULL, NULL, NULL, NULL},
};
