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
    {"cpu-list", "CPU,CPU,...", set_cpu_list},
    {"cpu-set", "CPU,CPU,...", set_cpu_set},
    {"bind-to", "OBJECT", set_bind_to},
    {"binding", "OBJECT", set_bind_to},
    {"bind-to-core", NULL, set_bind_to_core},
    {"bind-to-socket", NULL, set_bind_to_socket},
    {"bind-to-none", NULL, set_bind_to_none},
    {"cpus-per-proc", "N", set_cores_each},
    {"cpus-per-rank", "N", set_cores_each},
    {"report-bindings", NULL, set_reported},
    {NULL, NULL, NULL},
};
