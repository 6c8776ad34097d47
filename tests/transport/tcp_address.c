/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's answer to the question for a rank's address makes no sense: the rank says so. The answer is the
 * argument, or what the launcher says, if there is none. */
#include <stdbool.h>

#include "boot/process.h"
#include "test.h"

static const char *answer;

bool __real_mur_boot_answer(char key[MUR_VALUE_MAX], char value[MUR_VALUE_MAX]);
bool __wrap_mur_boot_answer(char key[MUR_VALUE_MAX], char value[MUR_VALUE_MAX]);

/* The linker puts it between the transport and the launcher. */
bool __wrap_mur_boot_answer(char key[MUR_VALUE_MAX], char value[MUR_VALUE_MAX])
{
    bool is_there = __real_mur_boot_answer(key, value);

    if (is_there && answer)
        snprintf(value, MUR_VALUE_MAX, "%s", answer);
    return is_there;
}

int main(int argc, char **argv)
{
    answer = argc > 1 ? argv[1] : NULL;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    puts("all can be reached");
    MPI_Finalize();
    return 0;
}
