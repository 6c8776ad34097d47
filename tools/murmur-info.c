/* SPDX-License-Identifier: BSD-3-Clause */
/* murmur-info: prints the version, what was found on this machine, and every setting with its value as it would be in
 * a job started from this environment. */
#include <stdio.h>

#include "base/settings.h"
#include "mpi/information.h"

int main(int argc, char **argv)
{
    const char *complaint = mur_settings_read();

    if (argc > 1) {
        fprintf(stderr, "%s: takes no arguments; prints version and settings\n", argv[0]);
        return 2;
    }
    if (complaint)
        fprintf(stderr, "Murmur: %s\n", complaint);
    mur_information_print(stdout);
    return 0;
}
