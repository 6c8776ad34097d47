/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about the ranks' environment variables: which are set, and which of mpiexec's own are passed on. */
#include <string.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"

/* `-env NAME value`, or `-env NAME=value` in one word. */
static int set_variable(struct mur_parser *parser, struct mur_assignments *list, const char *name)
{
    const char *equals = strchr(name, '=');

    if (!*name || equals == name)
        return mur_parser_fail(parser, "%s wants the name of a variable, not '%s'", parser->option, name);
    if (equals) {
        mur_assignments_add(list, mur_alloc_text("%s", name));
        return 0;
    }
    if (!*parser->next)
        return mur_parser_fail(parser, "%s %s wants a value: %s %s VALUE", parser->option, name, parser->option, name);
    mur_assignments_add(list, mur_alloc_text("%s=%s", name, *parser->next++));
    return 0;
}

static int set_env(struct mur_parser *parser, const char *value)
{
    return set_variable(parser, &parser->context->environment, value);
}

static int set_genv(struct mur_parser *parser, const char *value)
{
    return set_variable(parser, &parser->job->environment, value);
}

/* Adds the names of NAME,NAME,... */
static int add_names(struct mur_parser *parser, struct mur_assignments *names, const char *list)
{
    for (;;) {
        size_t length = strcspn(list, ",");

        if (length == 0)
            return mur_parser_fail(parser, "%s wants names of variables between ',', not '%s'", parser->option, list);
        mur_assignments_add(names, mur_alloc_text("%.*s", (int)length, list));
        if (!list[length])
            return 0;
        list += length + 1;
    }
}

/* `-x NAME=value`, where the value is all that follows, commas too; or `-x NAME,NAME`: these are passed on whatever
 * else is. */
static int set_export(struct mur_parser *parser, const char *value)
{
    if (!*value || *value == '=' || *value == ',')
        return mur_parser_fail(parser, "%s wants NAME, NAME=value or NAME,NAME,..., not '%s'", parser->option, value);
    if (strchr(value, '=')) {
        if (strcspn(value, ",") < strcspn(value, "="))
            return mur_parser_fail(parser, "%s '%s' mixes names and values; use one %s for each variable with a value",
                                   parser->option, value, parser->option);
        mur_assignments_add(&parser->context->environment, mur_alloc_text("%s", value));
        return 0;
    }
    return add_names(parser, &parser->context->inheritance.names, value);
}

static int set_genv_list(struct mur_parser *parser, const char *value)
{
    parser->job->inheritance.passing = MUR_PASS_LIST;
    return add_names(parser, &parser->job->inheritance.names, value);
}

static int set_genv_all(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->inheritance.passing = MUR_PASS_ALL;
    return 0;
}

static int set_genv_none(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->inheritance.passing = MUR_PASS_NONE;
    return 0;
}

static int set_env_list(struct mur_parser *parser, const char *value)
{
    parser->context->inheritance.passing = MUR_PASS_LIST;
    return add_names(parser, &parser->context->inheritance.names, value);
}

static int set_env_all(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->context->inheritance.passing = MUR_PASS_ALL;
    return 0;
}

static int set_env_none(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->context->inheritance.passing = MUR_PASS_NONE;
    return 0;
}

const struct mur_option mur_environment_options[] = {
    {"env", "NAME VALUE", set_env, "set an environment variable for this program's ranks"},
    {"genv", "NAME VALUE", set_genv, "set it for the ranks of all programs"},
    {"x", "NAME[=VALUE]", set_export, "set it for all; without a value, and as NAME,NAME, pass it on whatever else is"},
    {"envlist", "NAME,NAME,...", set_env_list, "pass on only these variables of mpiexec's environment to this program"},
    {"envall", NULL, set_env_all, "pass on all variables to this program"},
    {"envnone", NULL, set_env_none, "pass on none to this program"},
    {"genvlist", "NAME,NAME,...", set_genv_list, "pass on only these variables to all programs"},
    {"genvall", NULL, set_genv_all, "pass on all variables to all programs (default)"},
    {"genvnone", NULL, set_genv_none, "pass on none to all programs"},
    {NULL, NULL, NULL, NULL},
};
