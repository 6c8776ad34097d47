/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher itself says on stderr: lines that start with "mpiexec: ", or the daemon's name, each one write, so
 * none is torn. */
#ifndef MUR_LAUNCH_SAY_H
#define MUR_LAUNCH_SAY_H

#include <stddef.h>

/* Exit codes of mpiexec itself; any other comes from the job. The help text explains them. */
#define MUR_EXIT_TROUBLE        1
#define MUR_EXIT_USAGE          2
#define MUR_EXIT_REQUEUE        85  /* the job was saved, and ended for it: to be restarted */
#define MUR_EXIT_TIMEOUT        124 /* as timeout(1) */
#define MUR_EXIT_NOT_EXECUTABLE 126 /* as the shell, as the next */
#define MUR_EXIT_NOT_FOUND      127
#define MUR_EXIT_SIGNAL         128 /* plus the signal's number, 64 at most */
#define MUR_EXIT_LOST           200 /* a host, or the agent on it, is lost: the job might go well elsewhere */

extern const char *mur_say_name; /* of this program, in front of what it says */
void mur_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mur_say_raw(const char *text, size_t length); /* neither prefix nor newline is added */
/* Where it is set, mur_quit tells this instead of stderr, and then exits. */
extern void (*mur_quit_tell)(int code, const char *text);
_Noreturn void mur_quit(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
