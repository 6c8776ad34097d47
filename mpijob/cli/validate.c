/* SPDX-License-Identifier: BSD-3-Clause */
/* mpijob validate FILE...: what the API server and the operator would refuse, and what `mpijob run` does not act on. */
#include <string.h>

#include "launch/say.h"
#include "mpijob/cli/cli.h"

int mur_cli_validate(int count, char **words)
{
    int errors = 0, files = 0;
    bool tells_use = true;

    for (int i = 0; i < count; i++) {
        struct mur_findings findings = {.file = words[i], .out = stderr, .tells_use = tells_use};
        struct mur_value *documents;

        if (strcmp(words[i], "-quiet") == 0 || strcmp(words[i], "--quiet") == 0) {
            tells_use = false;
            continue;
        }
        if (words[i][0] == '-' && words[i][1])
            mur_quit(MUR_EXIT_USAGE, "validate: unknown option %s; it takes --quiet and files", words[i]);
        files++;
        documents = mur_cli_read(words[i]);
        mur_documents_check(documents, &findings);
        mur_value_free(documents);
        errors += findings.errors;
        if (findings.errors == 0)
            printf("%s: valid%s\n", words[i], findings.refused ? ", but not run by mpijob run: see above" : "");
    }
    if (files == 0)
        mur_quit(MUR_EXIT_USAGE, "validate needs a file; - is standard input");
    return errors ? MUR_EXIT_TROUBLE : 0;
}
