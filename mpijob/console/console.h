/* SPDX-License-Identifier: BSD-3-Clause */
/* mpijob console: a web page for MPI jobs, and the few requests that the page may make.
 *
 * One process with one thread. visit.c receives a request, says who sent it (access.c) and gives files of the page, or
 * what action.c answers. What an action asks of the Kubernetes API is a fetch (fetch.c): the browser's connection rests
 * meanwhile. feed.c passes on what goes on: changes of objects and logs, as server-sent events. The page gets nothing
 * of the API but by these actions; the API's own token never leaves this process. */
#ifndef MUR_MPIJOB_CONSOLE_H
#define MUR_MPIJOB_CONSOLE_H

#include "mpijob/client/client.h"
#include "mpijob/http/stream.h"

struct mur_console_plan {
    const char *listen, *token_file, *certificate, *key; /* NULL: not said; certificate and key are PEM texts */
    const char *space;                                   /* the namespace whose jobs are shown */
    long long session;                                   /* seconds until a login expires */
    int port;                                            /* at which it listens; set when it does */
    struct mur_cluster cluster;
    int serve; /* where `mpijob serve`, which this console has started, says what happens; -1: it has not */
};
extern struct mur_console_plan mur_console;

int mur_console_run(void); /* until a signal; the exit code */

/* ---- access.c ---- */

enum mur_role { MUR_ROLE_NOBODY, MUR_ROLE_LOOK, MUR_ROLE_SUBMIT, MUR_ROLE_ADMINISTER };

struct mur_user {
    char *token, *name;
    enum mur_role role;
};

/* Who a session is of. */
struct mur_login {
    const struct mur_user *user; /* NULL: of nobody */
    long long expires;           /* seconds since 1970 */
    char change_token[65];       /* what each change must carry in a header */
};

void mur_users_read(const char *path);
void mur_users_make(const char *origin); /* one of each role, with fresh tokens; prints their links */
const struct mur_user *mur_user_find(const char *token);
const char *mur_role_name(enum mur_role role);
char *mur_session_make(const struct mur_user *user); /* the cookie's value; the caller's to free */
bool mur_session_find(const char *cookie, struct mur_login *login);
void mur_session_end(const char *cookie); /* it is refused from now on */

/* ---- fetch.c ---- */

struct mur_fetch {
    CURL *handle;
    struct curl_slist *headers;
    char *url, *body, *text; /* text: what has come, if nobody takes it as it comes */
    size_t length;
    char error[CURL_ERROR_SIZE];
    bool is_over;
    /* Takes what comes with code 200. Returns false if nothing more can be taken for now; NULL: it is kept. */
    bool (*take)(struct mur_fetch *fetch, const char *data, size_t length);
    void (*done)(struct mur_fetch *fetch, long code); /* code 0: the API has not answered; see error */
    void *whom;
};

/* Begins a call; done will be called once, from mur_fetches_step. `seconds` 0: without end. Owns the body. */
struct mur_fetch *mur_fetch_start(const char *method, const char *path, const char *type, char *body, long seconds);
void mur_fetch_free(struct mur_fetch *fetch); /* also ends it, without done */
void mur_fetches_wait(struct curl_waitfd *others, int count, double seconds);
void mur_fetches_step(void);
double mur_steady_clock(void);

/* ---- visit.c ---- */

/* A request and its answer. */
struct mur_console_visit {
    struct mur_console_visit *next; /* of those that rest */
    struct MHD_Connection *connection;
    const char *method;
    struct mur_login login;
    char *body, *path, *parts[8];
    size_t length;
    int count; /* of parts */
    struct mur_fetch *fetch;
    void (*fetch_done)(struct mur_fetch *fetch, long code);
    const struct mur_console_action *action;
    bool rests, is_answered, is_attachment;
    int code;
    char *text, *cookie; /* of the answer; cookie: "" ends the session, NULL leaves it */
    struct mur_http_stream *stream;
};

struct MHD_Daemon *mur_visits_start(int listener);
void mur_visits_stop(void); /* none rests any more */
/* Each answers the visit, if it has not been. */
void mur_visit_answer(struct mur_console_visit *visit, int code, struct mur_value *body);
void mur_visit_answer_text(struct mur_console_visit *visit, int code, char *json);
void mur_visit_fail(struct mur_console_visit *visit, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *mur_visit_option(const struct mur_console_visit *visit, const char *name); /* of the query; "" */
const char *mur_visit_header(const struct mur_console_visit *visit, const char *name); /* "" */
const char *mur_visit_cookie(const struct mur_console_visit *visit);                   /* NULL */
/* Calls the API and, while the visit rests, waits for it. The fetch is freed after `done`. */
void mur_visit_fetch(struct mur_console_visit *visit, const char *method, const char *path, const char *type,
                     char *body, void (*done)(struct mur_fetch *fetch, long code));

/* ---- action.c, check.c ---- */

struct mur_console_action {
    const char *method, *path; /* "*" stands for a name */
    enum mur_role role;
    void (*act)(struct mur_console_visit *visit);
};
const struct mur_console_action *mur_action_find(struct mur_console_visit *visit); /* NULL, with an answer */
void mur_check_act(struct mur_console_visit *visit);                               /* YAML to objects and findings */

/* ---- feed.c ---- */

/* A stream of events; NULL: there are too many. Each source adds one kind. */
struct mur_feed;
struct mur_feed *mur_feed_new(const struct mur_login *login);
void mur_feed_watch(struct mur_feed *feed, const char *event, const char *path);
void mur_feed_log(struct mur_feed *feed, const char *path, bool is_raw); /* raw: as it is, for a download */
struct mur_http_stream *mur_feed_stream(struct mur_feed *feed);

/* The files of the page, made of page/ when this is built. */
struct mur_page_file {
    const char *path, *type;
    const unsigned char *data;
    size_t length;
};
extern const struct mur_page_file mur_page_files[]; /* ends with a row without path */

#endif
