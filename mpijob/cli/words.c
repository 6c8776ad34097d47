/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the command line that several commands take. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/cli/cli.h"
#include "mpijob/runner/runner.h"

void mur_cli_add_image(struct mur_image **images, int *count, const char *text)
{
    const char *equals = strchr(text, '=');

    *images = mur_alloc_again(*images, (size_t)*count + 1, sizeof **images);
    (*images)[(*count)++] = (struct mur_image){equals ? mur_alloc_text("%.*s", (int)(equals - text), text) : NULL,
                                               equals ? equals + 1 : text};
}

char *mur_cli_program_folder(void)
{
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

    own[length > 0 ? length : 0] = '\0';
    if (strrchr(own, '/'))
        *strrchr(own, '/') = '\0';
    return mur_alloc_text("%s", own);
}

double mur_cli_seconds(const char *option, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= 0 && seconds < 1e9))
        mur_quit(MUR_EXIT_USAGE, "%s %s: seconds are expected", option, text);
    return seconds;
}
