/* SPDX-License-Identifier: BSD-3-Clause */
/* The table. An event that cannot happen in a state has no row there: it is a fault of the daemon or of its caller,
 * and ends the visit (`unexpected`). */
#include "launch/daemon/states.h"

#include <stdbool.h>

#define TO(action, state)                                                                                              \
    {                                                                                                                  \
        true,                                                                                                          \
        {                                                                                                              \
            MUR_ACTION_##action, MUR_VISIT_##state                                                                     \
        }                                                                                                              \
    }

static const struct cell {
    bool is_set;
    struct mur_transition transition;
} table[MUR_VISIT_STATES][MUR_VISIT_EVENTS] = {
    [MUR_VISIT_LISTENING] =
        {
            [MUR_EVENT_ARRIVES] = TO(AWAIT_HELLO, GREETING),
            [MUR_EVENT_END] = TO(NOTHING, CLOSED),
        },
    [MUR_VISIT_GREETING] =
        {
            [MUR_EVENT_HELLO] = TO(CHALLENGE, CHALLENGED),
            [MUR_EVENT_OTHER_VERSION] = TO(TELL_VERSION, CLOSING),
        },
    [MUR_VISIT_CHALLENGED] =
        {
            [MUR_EVENT_PROOF] = TO(WELCOME, SESSION),
            [MUR_EVENT_FLUSHED] = TO(NOTHING, CHALLENGED),
        },
    [MUR_VISIT_SESSION] =
        {
            [MUR_EVENT_COMMAND] = TO(OBEY, SESSION),
            [MUR_EVENT_START] = TO(START_AGENT, JOB),
            [MUR_EVENT_FLUSHED] = TO(NOTHING, SESSION),
            [MUR_EVENT_STRANGE] = TO(REFUSE, CLOSING),
            [MUR_EVENT_PROOF] = TO(REFUSE, CLOSING),
            [MUR_EVENT_LATE] = TO(REFUSE, CLOSING),
        },
    [MUR_VISIT_JOB] =
        {
            [MUR_EVENT_START_FAILED] = TO(TELL_TROUBLE, CLOSING),
            [MUR_EVENT_AGENT_SAYS] = TO(PASS_OUTPUT, JOB),
            [MUR_EVENT_AGENT_ENDS] = TO(TELL_END, CLOSING),
            [MUR_EVENT_FLUSHED] = TO(NOTHING, JOB),
            [MUR_EVENT_HANGUP] = TO(END_AGENT, LEFT),
            [MUR_EVENT_ALTERED] = TO(END_AGENT, LEFT),
            [MUR_EVENT_STRANGE] = TO(END_AGENT, LEFT),
            [MUR_EVENT_PROOF] = TO(END_AGENT, LEFT),
            [MUR_EVENT_COMMAND] = TO(END_AGENT, LEFT),
            [MUR_EVENT_START] = TO(END_AGENT, LEFT),
        },
    [MUR_VISIT_LEFT] =
        {
            [MUR_EVENT_AGENT_SAYS] = TO(DROP_OUTPUT, LEFT),
            [MUR_EVENT_AGENT_ENDS] = TO(HANG_UP, CLOSED),
        },
    [MUR_VISIT_CLOSING] =
        {
            [MUR_EVENT_FLUSHED] = TO(HANG_UP, CLOSED),
            [MUR_EVENT_PROOF] = TO(NOTHING, CLOSING),
            [MUR_EVENT_COMMAND] = TO(NOTHING, CLOSING),
            [MUR_EVENT_START] = TO(NOTHING, CLOSING),
            [MUR_EVENT_STRANGE] = TO(NOTHING, CLOSING),
        },
};

/* A visit that is over stays over; any other ends with whatever the table does not expect. */
static const struct mur_transition over = {MUR_ACTION_NOTHING, MUR_VISIT_CLOSED},
                                   unexpected = {MUR_ACTION_HANG_UP, MUR_VISIT_CLOSED};

struct mur_transition mur_visit_transition(enum mur_visit_state state, enum mur_visit_event event)
{
    if (table[state][event].is_set)
        return table[state][event].transition;
    return state == MUR_VISIT_CLOSED ? over : unexpected;
}

int mur_visit_limit(enum mur_visit_state state)
{
    static const int limits[MUR_VISIT_STATES] = {[MUR_VISIT_GREETING] = 5000,
                                                 [MUR_VISIT_CHALLENGED] = 5000,
                                                 [MUR_VISIT_SESSION] = 600000,
                                                 [MUR_VISIT_CLOSING] = 5000};

    return limits[state];
}

const char *mur_visit_state_name(enum mur_visit_state state)
{
    static const char *const names[MUR_VISIT_STATES] = {"listening", "greeting", "challenged", "session",
                                                        "job",       "left",     "closing",    "closed"};

    return names[state];
}

const char *mur_visit_event_name(enum mur_visit_event event)
{
    static const char *const names[MUR_VISIT_EVENTS] = {
        "arrives",      "hello",      "other version", "strange", "altered", "proof", "command", "start",
        "start failed", "agent says", "agent ends",    "flushed", "hangup",  "late",  "crowded", "end"};

    return names[event];
}

const char *mur_visit_action_name(enum mur_visit_action action)
{
    static const char *const names[MUR_VISIT_ACTIONS] = {"-",           "await hello", "challenge",    "tell version",
                                                         "welcome",     "obey",        "start agent",  "tell trouble",
                                                         "pass output", "drop output", "tell the end", "end agent",
                                                         "refuse",      "hang up"};

    return names[action];
}

void mur_visit_print_table(FILE *out)
{
    fprintf(out, "| state | event | action | next |\n| --- | --- | --- | --- |\n");
    for (int state = 0; state < MUR_VISIT_CLOSED; state++) {
        for (int event = 0; event < MUR_VISIT_EVENTS; event++)
            if (table[state][event].is_set)
                fprintf(out, "| %s | %s | %s | %s |\n", mur_visit_state_name(state), mur_visit_event_name(event),
                        mur_visit_action_name(table[state][event].transition.action),
                        mur_visit_state_name(table[state][event].transition.next));
        fprintf(out, "| %s | any other | %s | %s |\n", mur_visit_state_name(state),
                mur_visit_action_name(unexpected.action), mur_visit_state_name(unexpected.next));
    }
    fprintf(out, "| closed | any | %s | closed |\n", mur_visit_action_name(over.action));
}
