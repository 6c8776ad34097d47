/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a visit to the daemon, as a table: in each state, what each event leads to. visit.c does what the table
 * says and nothing else; `smpd -states` prints it for docs/daemon.md. */
#ifndef MUR_LAUNCH_DAEMON_STATES_H
#define MUR_LAUNCH_DAEMON_STATES_H

#include <stdio.h>

enum mur_visit_state {
    MUR_VISIT_LISTENING,  /* nobody is there yet */
    MUR_VISIT_GREETING,   /* connected; the hello is awaited */
    MUR_VISIT_CHALLENGED, /* the proof is awaited */
    MUR_VISIT_SESSION,    /* proved; a command is awaited */
    MUR_VISIT_JOB,        /* an agent runs */
    MUR_VISIT_LEFT,       /* the visitor is gone, the agent still runs */
    MUR_VISIT_CLOSING,    /* the last words are on their way */
    MUR_VISIT_CLOSED,     /* over */
    MUR_VISIT_STATES,
};

enum mur_visit_event {
    MUR_EVENT_ARRIVES, /* somebody connects */
    MUR_EVENT_HELLO,
    MUR_EVENT_OTHER_VERSION, /* a hello of another version of Murmur */
    MUR_EVENT_STRANGE,       /* bytes that are no hello, or a message that is none of a caller's */
    MUR_EVENT_ALTERED,       /* a record that does not open: another phrase, or altered on the way */
    MUR_EVENT_PROOF,
    MUR_EVENT_COMMAND,
    MUR_EVENT_START,
    MUR_EVENT_START_FAILED, /* the agent that was asked for cannot be started */
    MUR_EVENT_AGENT_SAYS,
    MUR_EVENT_AGENT_ENDS,
    MUR_EVENT_FLUSHED, /* all that was said is on its way */
    MUR_EVENT_HANGUP,  /* the visitor has closed the connection, or it broke */
    MUR_EVENT_LATE,    /* the time of the state is over */
    MUR_EVENT_CROWDED, /* somebody else needs the place */
    MUR_EVENT_END,     /* the daemon itself ends */
    MUR_VISIT_EVENTS,
};

enum mur_visit_action {
    MUR_ACTION_NOTHING,
    MUR_ACTION_AWAIT_HELLO,
    MUR_ACTION_CHALLENGE,
    MUR_ACTION_TELL_VERSION,
    MUR_ACTION_WELCOME,
    MUR_ACTION_OBEY, /* do the command and answer */
    MUR_ACTION_START_AGENT,
    MUR_ACTION_TELL_TROUBLE,
    MUR_ACTION_PASS_OUTPUT,
    MUR_ACTION_DROP_OUTPUT,
    MUR_ACTION_TELL_END,
    MUR_ACTION_END_AGENT, /* if it has not started ranks yet */
    MUR_ACTION_REFUSE,
    MUR_ACTION_HANG_UP,
    MUR_VISIT_ACTIONS,
};

struct mur_transition {
    enum mur_visit_action action;
    enum mur_visit_state next;
};

struct mur_transition mur_visit_transition(enum mur_visit_state state, enum mur_visit_event event);

int mur_visit_limit(enum mur_visit_state state); /* ms that a visit may stay in it; 0: for ever */

const char *mur_visit_state_name(enum mur_visit_state state);
const char *mur_visit_event_name(enum mur_visit_event event);
const char *mur_visit_action_name(enum mur_visit_action action);

void mur_visit_print_table(FILE *out); /* in Markdown */

#endif
