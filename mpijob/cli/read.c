/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of documents, read and checked as a whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/cli/cli.h"

struct mur_value *mur_cli_read(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char *text = NULL;
    size_t length = 0, got;
    struct mur_document_error error;
    struct mur_value *documents;

    if (!file)
        mur_quit(MUR_EXIT_USAGE, "%s: %s", path, strerror(errno));
    do {
        text = mur_alloc_again(text, length + 65536, 1);
        got = fread(text + length, 1, 65536, file);
        length += got;
    } while (got > 0);
    if (ferror(file))
        mur_quit(MUR_EXIT_USAGE, "%s: %s", path, strerror(errno));
    if (file != stdin)
        fclose(file);
    documents = mur_document_read(text, length, &error);
    free(text);
    if (!documents) {
        fprintf(stderr, "%s:%d: error: %s\n", path, error.line, error.text);
        exit(MUR_EXIT_TROUBLE);
    }
    return documents;
}
