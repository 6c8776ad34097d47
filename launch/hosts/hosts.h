/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts a job may run on: a list of them, and the ways to write such a list down.
 *
 * Every reader adds to a struct mur_hosts. A host that is named again gets more slots: one for a bare name, else as
 * many as are written. Name, user and port together make a host. The order is that of first mention. */
#ifndef MUR_LAUNCH_HOSTS_H
#define MUR_LAUNCH_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#define MUR_HOSTS_MAX     16384
#define MUR_HOST_NAME_MAX 255
#define MUR_SLOTS_MAX     (1 << 20)

struct mur_host {
    char *name;
    char *user;     /* NULL: the same as here */
    int port;       /* for the command that reaches it; 0: that command's own */
    int slots;      /* ranks it takes before it is the next host's turn */
    int max_slots;  /* ranks it takes at all; 0: any number */
    bool has_slots; /* a number was written; else `slots` counts the mentions */
    bool is_local;  /* this machine, so nothing is needed to reach it; see mur_hosts_find_local */
    int ranks;      /* how many of the job run on it; known after placement */
};

struct mur_hosts {
    struct mur_host *items;
    int count;
    int space;
};

struct mur_problem { /* what is wrong with a list, for the user */
    char text[1024];
};

/* Sets the text and returns false. */
bool mur_problem_set(struct mur_problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds `host`, or its slots to the same host's. Its texts are copied. */
bool mur_hosts_add(struct mur_hosts *hosts, const struct mur_host *host, struct mur_problem *problem);
/* Marks the hosts that are this machine, whose name is `own_name`, and makes one host of them. */
void mur_hosts_find_local(struct mur_hosts *hosts, const char *own_name);

/* Whether this can be the name of a host or user: letters, digits, '.', '_', and '-' but not first. */
bool mur_name_is_good(const char *text, size_t length);
/* Adds [user@]host[:slots], or all that ranges stand for: n[01-03,7]:2. `more` has what was said of it elsewhere:
 * slots, if has_slots is set, user, port and max_slots. */
bool mur_hosts_add_word(struct mur_hosts *hosts, const char *word, size_t length, const struct mur_host *more,
                        struct mur_problem *problem);
/* Adds a,b:2,n[1-3] and so on. */
bool mur_hosts_add_list(struct mur_hosts *hosts, const char *list, struct mur_problem *problem);
/* Adds what a host file says; `name` is for messages. hostfile.c tells the forms. */
bool mur_hosts_add_text(struct mur_hosts *hosts, const char *name, const char *text, size_t length,
                        struct mur_problem *problem);
/* The same for the file `path`. */
bool mur_hosts_add_file(struct mur_hosts *hosts, const char *path, struct mur_problem *problem);
/* All of a file, with a NUL behind; NULL: *problem tells why not. */
char *mur_hosts_read_file(const char *path, size_t *length, struct mur_problem *problem);

/* The names that `word` stands for: n[01-03,7] is n01, n02, n03, n7, and of several ranges the last goes fastest. */
struct mur_names {
    char **items;
    int count;
};
bool mur_names_expand(struct mur_names *names, const char *word, size_t length, struct mur_problem *problem);
void mur_names_free(struct mur_names *names);

/* A decimal number of [low, high] that fills `length` bytes. */
bool mur_number_read(const char *text, size_t length, int low, int high, int *number);

#endif
