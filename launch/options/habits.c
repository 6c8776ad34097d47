/* SPDX-License-Identifier: BSD-3-Clause */
/* What users of other MPIs type by habit: taken in its nearest meaning, or accepted because nothing needs it.
 *
 * Root and more ranks than cores need no permission here. What is ignored is told in one note for the whole line. */
#include <string.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"

static int set_nothing(struct mur_parser *parser, const char *value)
{
    (void)parser;
    (void)value;
    return 0;
}

/* Nothing that changes what the program does: a refusal would help nobody. */
static int set_ignored(struct mur_parser *parser, const char *value)
{
    if (value)
        mur_parser_ignore(parser, "%s %s", parser->option, value);
    else
        mur_parser_ignore(parser, "%s", parser->option);
    return 0;
}

/* `-mca NAME VALUE` */
static int set_mca(struct mur_parser *parser, const char *name)
{
    const char *option = parser->option;
    const char *value = *parser->next;
    bool is_known;
    int rc;

    if (!value)
        return mur_parser_fail(parser, "%s %s wants a value: %s %s VALUE", option, name, option, name);
    parser->next++;
    rc = mur_setting_apply(parser, name, value, &is_known);
    parser->option = option;
    if (!is_known)
        mur_parser_ignore(parser, "%s %s %s", option, name, value);
    return rc;
}

static int set_interface(struct mur_parser *parser, const char *value)
{
    mur_assignments_add(&parser->job->environment, mur_alloc_text("MUR_TCP_INCLUDE=%s", value));
    return 0;
}

static int set_not_interface(struct mur_parser *parser, const char *value)
{
    mur_assignments_add(&parser->job->environment, mur_alloc_text("MUR_TCP_EXCLUDE=%s", value));
    return 0;
}

const struct mur_option mur_habit_options[] = {
    {"mca", "NAME VALUE", set_mca},
    {"gmca", "NAME VALUE", set_mca},
    {"prtemca", "NAME VALUE", set_mca},
    {"pmixmca", "NAME VALUE", set_mca},
    {"iface", "INTERFACE", set_interface},
    {"iface-exclude", "INTERFACE", set_not_interface},
    {"allow-run-as-root", NULL, set_nothing},
    {"am", "FILE", set_ignored},
    {"tune", "FILE", set_ignored},
    {"noprefix", NULL, set_nothing},
    {"map", "DRIVE:SHARE", set_ignored},
    {"mapall", NULL, set_ignored},
    {"nopopup_debug", NULL, set_ignored},
    {"delegate", NULL, set_ignored},
    {"impersonate", NULL, set_ignored},
    {"enable-x", NULL, set_nothing},
    {"use-hwthread-cpus", NULL, set_ignored},
    {"topolib", "NAME", set_ignored},
    {"membind", "POLICY", set_ignored},
    {"localhost", "NAME", set_ignored},
    {"nameserver", "HOST", set_ignored},
    {"memory-alloc-kinds", "KINDS", set_ignored},
    {"stream-buffering", "HOW", set_ignored},
    {"leave-session-attached", NULL, set_ignored},
    {"debug-daemons", NULL, set_ignored},
    {"get-stack-traces", NULL, set_ignored},
    {"report-state-on-timeout", NULL, set_ignored},
    {"q", NULL, set_nothing},
    {"quiet", NULL, set_nothing},
    {NULL, NULL, NULL},
};
