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
    {"iface", "INTERFACE", set_interface, "MUR_TCP_INCLUDE for the ranks"},
    {"iface-exclude", "INTERFACE", set_not_interface, "MUR_TCP_EXCLUDE for the ranks"},
    {"mca", "NAME VALUE", set_mca,
     "a parameter of Open MPI: the nearest thing here, or nothing, and then a note says so"},
    {"gmca", "NAME VALUE", set_mca, NULL},
    {"prtemca", "NAME VALUE", set_mca, NULL},
    {"pmixmca", "NAME VALUE", set_mca, NULL},
    {"allow-run-as-root", NULL, set_nothing, "accepted: nothing forbids it"},
    {"noprefix", NULL, set_nothing, NULL},
    {"enable-x", NULL, set_nothing, NULL},
    {"q", NULL, set_nothing, NULL},
    {"quiet", NULL, set_nothing, NULL},
    {"am", "FILE", set_ignored, "accepted and ignored, with a note"},
    {"tune", "FILE", set_ignored, NULL},
    {"map", "DRIVE:SHARE", set_ignored, NULL},
    {"mapall", NULL, set_ignored, NULL},
    {"nopopup_debug", NULL, set_ignored, NULL},
    {"delegate", NULL, set_ignored, NULL},
    {"impersonate", NULL, set_ignored, NULL},
    {"use-hwthread-cpus", NULL, set_ignored, NULL},
    {"topolib", "NAME", set_ignored, NULL},
    {"membind", "POLICY", set_ignored, NULL},
    {"localhost", "NAME", set_ignored, NULL},
    {"nameserver", "HOST", set_ignored, NULL},
    {"memory-alloc-kinds", "KINDS", set_ignored, NULL},
    {"stream-buffering", "HOW", set_ignored, NULL},
    {"leave-session-attached", NULL, set_ignored, NULL},
    {"debug-daemons", NULL, set_ignored, NULL},
    {"get-stack-traces", NULL, set_ignored, NULL},
    {"report-state-on-timeout", NULL, set_ignored, NULL},
    {NULL, NULL, NULL, NULL},
};
