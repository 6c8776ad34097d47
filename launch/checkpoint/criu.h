/* SPDX-License-Identifier: BSD-3-Clause */
/* CRIU as a command: the first `criu` in PATH, or what MUR_CRIU says. */
#ifndef MUR_LAUNCH_CHECKPOINT_CRIU_H
#define MUR_LAUNCH_CHECKPOINT_CRIU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The words of a command, built up. */
struct mur_words {
    char **items; /* ends with NULL */
    int count;
};
void mur_words_add(struct mur_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mur_words_free(struct mur_words *words);

/* Sets the command's own words and the action; false with what is wrong. */
bool mur_criu_begin(struct mur_words *words, const char *action, char *text, size_t bytes);
void mur_criu_add_dump(struct mur_words *words, const char *folder);
void mur_criu_add_restore(struct mur_words *words, const char *folder);

/* Becomes the command, with no signal blocked, standard input and output empty and its complaints at `log`, a
 * descriptor. Ends the process where that is not possible. */
_Noreturn void mur_criu_become(const struct mur_words *words, int log);

/* How it failed: the last error in its log, `folder`/`log`; else what it printed to `folder`/complaints. */
void mur_criu_explain(const char *folder, const char *log, int status, char *text, size_t bytes);

#endif
