/* SPDX-License-Identifier: BSD-3-Clause */
/* murmur-info: prints the version, what was found on this machine, every setting with its value as it would be in a job
 * started from this environment, and every counter that tools can read; as a text, or with --json for programs. With
 * the name of a program it says which MPI that was built for, and whether it runs on Murmur. */
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "mpi/information.h"
#include "program-info.h"

static int usage(FILE *out, const char *program, int code)
{
    fprintf(out,
            "%s [--json | --help]: prints version, build, machine, settings and counters\n"
            "%s PROGRAM: says which MPI it was built for, and whether it runs on Murmur\n",
            program, program);
    return code;
}

int main(int argc, char **argv)
{
    const char *complaint = mur_settings_read();
    int is_json = argc == 2 && strcmp(argv[1], "--json") == 0;

    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return usage(stdout, argv[0], 0);
    if (argc == 2 && argv[1][0] != '-')
        return program_info(argv[1]);
    if (argc > 1 && !is_json)
        return usage(stderr, argv[0], 2);
    if (complaint)
        fprintf(stderr, "Murmur: %s\n", complaint);
    if (is_json) {
        mur_information_print_json(stdout);
    } else {
        mur_information_print(stdout);
        mur_information_print_counters(stdout);
    }
    if (fflush(stdout) || ferror(stdout)) {
        perror(argv[0]);
        return 1;
    }
    return 0;
}
