/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of mpijob, one file each, and what they share. */
#ifndef MUR_MPIJOB_CLI_H
#define MUR_MPIJOB_CLI_H

#include "mpijob/document/document.h"
#include "mpijob/schema/schema.h"

/* Each gets the words behind the command's name, and returns the exit code. */
int mur_cli_validate(int count, char **words);
int mur_cli_run(int count, char **words);
int mur_cli_controller(int count, char **words);
int mur_cli_serve(int count, char **words);                    /* only where the API's libraries are: MUR_HAVE_API */
int mur_cli_console(int count, char **words);                  /* likewise */
int mur_cli_ask(const char *command, int count, char **words); /* of a job that runs */

struct mur_image;
/* NAME=DIRECTORY, NAME=host, or without a name for all images. */
void mur_cli_add_image(struct mur_image **images, int *count, const char *text);
char *mur_cli_program_folder(void); /* where mpijob lies; the caller's to free */
double mur_cli_seconds(const char *option, const char *text);
/* The documents of a file, "-" for standard input; ends the program if it cannot be read or is no YAML. */
struct mur_value *mur_cli_read(const char *path);

#endif
