/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about how ranks are started: their priority, their windows, their GPUs, and what they are told. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/alloc.h"
#include "launch/options/parser.h"
#include "launch/hosts/ranklist.h"

static int set_local_root(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->starting.has_local_root = true;
    return 0;
}

static int set_no_mpi(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->starting.has_no_mpi = true;
    return 0;
}

static int set_pmi_port(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->starting.has_pmi_port = true;
    return 0;
}

static int set_sent(struct mur_parser *parser, const char *value)
{
    (void)value;
    parser->job->starting.sends_program = true;
    return 0;
}

/* ---- -priority ---- */

/* The place of the word in the list, or the digit that stands for it. -1: it is neither. */
static int find_word(const char *text, size_t length, const char *const *words, int count)
{
    int number;

    if (mur_number_read(text, length, 0, count - 1, &number))
        return number;
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0)
            return i;
    return -1;
}

/* `CLASS[:LEVEL]`. Each class below normal makes ranks nicer by 10, each above by -5; a level changes it by 2 a step.
 */
static int set_priority(struct mur_parser *parser, const char *value)
{
    static const char *const classes[] = {"idle", "below", "normal", "above", "high"};
    static const char *const levels[] = {"idle", "lowest", "below", "normal", "above", "highest"};
    static const int nice_of_class[] = {0, 10, 0, -5, -10}, nice_of_level[] = {6, 4, 2, 0, -2, -4};
    size_t length = strcspn(value, ":");
    int class = find_word(value, length, classes, 5), level = 3;

    if (value[length])
        level = find_word(value + length + 1, strlen(value + length + 1), levels, 6);
    if (class < 0 || level < 0)
        return mur_parser_fail(parser,
                               "%s wants idle, below, normal, above or high (or 0 to 4), and perhaps ':' and idle, "
                               "lowest, below, normal, above or highest (0 to 5), not '%s'",
                               parser->option, value);
    parser->job->starting.is_idle = class == 0;
    parser->job->starting.nice = nice_of_class[class] + nice_of_level[level];
    return 0;
}

/* ---- ranks ---- */

static int set_ranks_of(struct mur_parser *parser, const char *value, const char **list)
{
    if (!mur_ranklist_is_good(value))
        return mur_parser_fail(parser, "%s wants ranks, as in 0,3-5, or all, not '%s'", parser->option, value);
    *list = value;
    return 0;
}

static int set_windows(struct mur_parser *parser, const char *value)
{
    return set_ranks_of(parser, value, &parser->job->starting.windows);
}

static int set_shown(struct mur_parser *parser, const char *value)
{
    return set_ranks_of(parser, value, &parser->job->starting.shown);
}

static int set_gpus(struct mur_parser *parser, const char *value)
{
    parser->job->starting.gpus = 0;
    if (strcasecmp(value, "auto") == 0)
        return 0;
    return mur_parser_read_number(parser, value, "a number of devices", 1, 1024, &parser->job->starting.gpus);
}

/* ---- signals ---- */

/* SIGUSR1, USR1 or 10. 0: no signal that could be passed on. */
static int read_signal(const char *text, size_t length)
{
    int number = 0;

    if (mur_number_read(text, length, 1, SIGRTMAX, &number))
        return number;
    if (length > 3 && strncasecmp(text, "SIG", 3) == 0) {
        text += 3;
        length -= 3;
    }
    for (int signal = 1; signal < NSIG; signal++) {
        const char *name = sigabbrev_np(signal);

        if (name && strlen(name) == length && strncasecmp(name, text, length) == 0)
            return signal;
    }
    return 0;
}

/* What stops or ends mpiexec by itself, or tells it of its children, cannot be passed on. */
static bool is_passable(int signal)
{
    static const int own[] = {0, SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (signal == own[i])
            return false;
    return true;
}

static int set_signals(struct mur_parser *parser, const char *value)
{
    if (strcasecmp(value, "none") == 0) {
        parser->job->passes_no_signals = true;
        return 0;
    }
    for (;;) {
        size_t length = strcspn(value, ",");
        int signal = read_signal(value, length);

        if (!is_passable(signal))
            return mur_parser_fail(parser,
                                   "%s wants signals, as in SIGUSR1,WINCH,40, or none; '%.*s' cannot be passed on",
                                   parser->option, (int)length, value);
        parser->job->more_signals |= UINT64_C(1) << (signal - 1);
        if (!value[length])
            return 0;
        value += length + 1;
    }
}

const struct mur_option mur_starting_options[] = {
    {"localroot", NULL, set_local_root,
     "rank 0 keeps mpiexec's terminal, standard streams and process group, to be debugged"},
    {"nompi", NULL, set_no_mpi, "tell the ranks nothing of MPI: no variables, no connections"},
    {"priority", "CLASS[:LEVEL]", set_priority,
     "idle, below, normal, above or high; idle, lowest, below ... highest within it: the scheduler's idle class, or "
     "nice values, which I/O follows"},
    {"output-from", "RANKS", set_shown, "show stdout of these ranks only: 0,4-7, 8-, all"},
    {"xterm", "RANKS", set_windows, "each of these ranks runs in a window of its own (xterm)"},
    {"gpus-per-proc", "N", set_gpus,
     "each rank of a host sees its own N GPUs (CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, ZE_AFFINITY_MASK), of those "
     "that the variable allows now"},
    {"g", "N", set_gpus, NULL},
    {"pmi-port", NULL, set_pmi_port, "programs of other MPIs find PMI at a port (PMI_PORT) instead of a descriptor"},
    {"preload-binary", NULL, set_sent, "send the programs to the hosts, which keep them in memory while they run"},
    {"forward-signals", "SIGNALS", set_signals,
     "pass these on to the ranks, too: SIGWINCH,40; none: not even the usual ones"},
    {NULL, NULL, NULL, NULL},
};
