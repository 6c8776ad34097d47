/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of options share: the parser's state and the form of a table of options.
 *
 * Each theme has a file with its options' actions and one table; parse.c looks through all tables. */
#ifndef MUR_LAUNCH_PARSER_H
#define MUR_LAUNCH_PARSER_H

#include <stddef.h>

#include "launch/jobspec.h"

struct mur_parser {
    struct mur_jobspec *job;
    struct mur_context *context; /* the one being read */
    char **next;                 /* the words not yet read */
    const char *option;          /* as the user wrote it, for messages */
    char *error;
    size_t error_size;
    bool has_file; /* the words are from -configfile */
};

/* tools/manual/tables.py reads these tables, too, for the manual pages and for the shells' completion. */
struct mur_option {
    const char *name;
    const char *value; /* what it takes, for messages; NULL: nothing */
    int (*set)(struct mur_parser *parser, const char *value);
    const char *help; /* NULL: another name of the option above */
};

/* Each ends with a NULL name. */
extern const struct mur_option mur_program_options[];
extern const struct mur_option mur_job_options[];
extern const struct mur_option mur_environment_options[];
extern const struct mur_option mur_host_options[];
extern const struct mur_option mur_mapping_options[];
extern const struct mur_option mur_binding_options[];
extern const struct mur_option mur_launcher_options[];
extern const struct mur_option mur_output_options[];
extern const struct mur_option mur_starting_options[];
extern const struct mur_option mur_checkpoint_options[];
extern const struct mur_option mur_command_options[];
extern const struct mur_option mur_habit_options[]; /* accepted, though nothing needs them */

/* What -help is about: a table, a text, or both. */
struct mur_topic {
    const char *name;
    const char *title;
    const struct mur_option *options; /* NULL: none */
    const char *text;                 /* NULL: none */
};
extern const struct mur_topic mur_topics[]; /* ends with a NULL name; all tables are in it */

/* In any table, without dashes; NULL: there is none. */
const struct mur_option *mur_option_find(const char *name);

/* Writes the message and returns MUR_EXIT_USAGE. */
int mur_parser_fail(struct mur_parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prefixes what is wrong with the option's name and returns MUR_EXIT_USAGE. */
int mur_parser_fail_problem(struct mur_parser *parser, const struct mur_problem *problem);
int mur_parser_read_number(struct mur_parser *parser, const char *value, const char *what, int low, int high,
                           int *number);
/* -n N, by this name or another. */
int mur_parser_set_ranks(struct mur_parser *parser, const char *value);
/* Sets the option `name` as if the user had given it with `value`. */
int mur_parser_apply(struct mur_parser *parser, const struct mur_option *table, const char *name, const char *value);
/* Adds a word to the note about what is ignored. */
void mur_parser_ignore(struct mur_parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mur_assignments_add(struct mur_assignments *list, char *assignment);

/* What the environment says before the command line is read, and -mca settings by name. */
int mur_defaults_apply(struct mur_parser *parser);
int mur_setting_apply(struct mur_parser *parser, const char *name, const char *value, bool *is_known);

/* After the whole command line: options about snapshots that do not fit together; 0 if they do. */
int mur_checkpoint_settle(struct mur_parser *parser);

/* Splits text at blanks, minding quotes and backslashes as the shell does; NULL: a quote is not closed. */
char **mur_words_split(const char *text, size_t length);
/* Replaces what is left of the command line by the words of a file, its lines parted by ':'. */
int mur_configfile_read(struct mur_parser *parser, const char *path);

#endif
