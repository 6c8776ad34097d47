#!/bin/bash
# Programs of MPICH under the PMI server, in the small launcher of the tests: they are one world, whether PMI-1.2 or 1.1
# is served. Ranks that break the rules are named and ended.
# SPDX-License-Identifier: BSD-3-Clause
set -u
BUILD=${BUILD:-$PWD/build}
SMALL=$BUILD/tests/launch/pmi_launcher
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
FAILED=0
unset "${!PMI_@}" "${!PMIX_@}" 2>/dev/null

fail() { echo "FAILED: $*"; FAILED=1; }

rubbish() { # WANTED-TEXT SHELL-COMMAND, which writes to $PMI_FD
    local output code
    output=$(timeout 20 "$SMALL" 2 /bin/bash -c "$2; sleep 30" 2>&1)
    code=$?
    [ $code -eq 120 ] && [[ $output == *"$1"* ]] || fail "$2: exit code $code, wanted '$1', it said: $output"
}
rubbish "sent 'hello', which is no PMI command" 'echo hello >&$PMI_FD'
rubbish "before init" 'echo cmd=get_maxes >&$PMI_FD'
rubbish "longer than" 'head -c 1000000 /dev/zero | tr "\0" x >&$PMI_FD'
rubbish "in the place of a PMI command's length" 'echo "cmd=init pmi_version=2" >&$PMI_FD; echo hello >&$PMI_FD'
rubbish "does not read" 'exec 2>/dev/null; echo "cmd=init pmi_version=1" >&$PMI_FD; yes cmd=get_maxes >&$PMI_FD'

cat >"$DIR/world.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    static char port[MPI_MAX_PORT_NAME] = "made-up#1$", found[MPI_MAX_PORT_NAME];
    int rank, size, mine, sum, universe = -1, is_set, *value;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &is_set);
    if (is_set)
        universe = *value;
    if (rank == 0)
        MPI_Publish_name("the-name", MPI_INFO_NULL, port);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Lookup_name("the-name", MPI_INFO_NULL, found);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Unpublish_name("the-name", MPI_INFO_NULL, port);
    printf("rank %d of %d: sum %d, universe %d, names %s\n", rank, size, sum, universe,
           strcmp(port, found) ? "differ" : "agree");
    fflush(stdout);
    if (argc > 1 && rank == 2)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (argc > 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
if ! mpicc.mpich -o "$DIR/world" "$DIR/world.c"; then
    echo "NOT TESTED with programs of MPICH: there is no mpicc.mpich that works (Debian: libmpich-dev)"
    exit $FAILED
fi

for option in "" -o; do
    output=$(timeout 60 "$SMALL" $option 4 "$DIR/world" 2>&1)
    code=$?
    [ $code -eq 0 ] || fail "MPICH's program under pmi_launcher $option: exit code $code: $output"
    for rank in 0 1 2 3; do
        [[ $output == *"rank $rank of 4: sum 10, universe 16, names agree"* ]] ||
            fail "MPICH's program under pmi_launcher $option: no good line of rank $rank in: $output"
    done
done
output=$(timeout 60 "$SMALL" 4 "$DIR/world" abort 2>&1)
code=$?
[ $code -eq 9 ] && [[ $output == *"abort by rank 2 with code 9"* ]] || fail "MPI_Abort: exit code $code: $output"
exit $FAILED
