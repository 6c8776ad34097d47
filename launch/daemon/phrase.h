/* SPDX-License-Identifier: BSD-3-Clause */
/* The phrase that daemons and their callers share, and the file where it and other settings of the daemon stand:
 * ~/.smpd, lines of KEY=VALUE, for its owner alone. */
#ifndef MUR_LAUNCH_DAEMON_PHRASE_H
#define MUR_LAUNCH_DAEMON_PHRASE_H

#include <stdbool.h>
#include <sys/types.h>

#include "launch/hosts/hosts.h"
#include "launch/jobspec.h"
#include "launch/seal.h"

enum { MUR_PHRASE_MAX = 1024 };

/* ~/.smpd of this user, or the one that is given. */
char *mur_smpdfile_path(const char *given);

/* The value of a key, or NULL: there is none, or, where *problem has a text, the file cannot be trusted. `owner` is
 * whose file it must be. */
char *mur_smpdfile_get(const char *path, uid_t owner, const char *key, struct mur_problem *problem);

/* Puts a value in place of the one that is there; NULL removes it. */
bool mur_smpdfile_set(const char *path, const char *key, const char *value, struct mur_problem *problem);

/* The first line of a file; of two, the first is the user's name and the second the phrase. NULL with a problem. */
char *mur_phrase_read(const char *path, char **user, struct mur_problem *problem);

/* Asks at the terminal, without echo. NULL: there is no terminal, or no answer. */
char *mur_phrase_ask(const char *prompt);

/* Takes a phrase from an argument, and blackens it there, where `ps` shows it. */
char *mur_phrase_take(char *argument);

/* The stretched phrase of mpiexec, from where its options and environment say; mpiexec ends where there is none. */
const unsigned char *mur_phrase_key(const struct mur_launcher *launcher);

/* Whether one is written somewhere; nobody is asked. */
bool mur_phrase_is_there(const struct mur_launcher *launcher);

/* Stretches, wipes the phrase, and frees it. False: there is no memory for it. */
bool mur_phrase_stretch(unsigned char key[MUR_SEAL_KEY_BYTES], char *phrase);

#endif
