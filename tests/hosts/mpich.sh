#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program of MPICH's own, compiled by its mpicc, under our mpiexec: on this host, and on three others that its ranks
# reach over the network. Its exit without a goodbye ends the job.
. "$(dirname "$0")/lib.sh"
command -v mpicc.mpich >/dev/null || skip "no mpicc.mpich"
cat >"$scratch/hello.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, sum, length;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(name, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1 && rank == 1)
        exit(9);
    if (argc > 1)
        MPI_Barrier(MPI_COMM_WORLD);
    printf("%.5s %d of %d, sum %d\n", name, rank, size, sum);
    MPI_Finalize();
    return 0;
}
END
mpicc.mpich "$scratch/hello.c" -o "$scratch/hello" || skip "mpicc.mpich does not work"
hosts_up 3

expect() { # expected lines, mpiexec's arguments
    local expected=$1 seen
    shift
    seen=$(timeout 60 ip netns exec "$tag-h0" "$mpiexec" -abi native -launcher-exec "$scratch/rsh" "$@" 2>&1 | sort | tr '\n' ';')
    [ "$seen" = "$expected" ] || fail "mpiexec $*: expected '$expected', saw '$seen'"
}

expect "MPICH 0 of 3, sum 3;MPICH 1 of 3, sum 3;MPICH 2 of 3, sum 3;" -n 3 "$scratch/hello"
expect "MPICH 0 of 4, sum 6;MPICH 1 of 4, sum 6;MPICH 2 of 4, sum 6;MPICH 3 of 4, sum 6;" \
    -host "$hosts" -agent-width 1 -n 4 "$scratch/hello"
timeout 60 ip netns exec "$tag-h0" "$mpiexec" -abi native -launcher-exec "$scratch/rsh" -host "$hosts" -n 3 "$scratch/hello" x \
    >"$scratch/out" 2>&1
[ $? = 9 ] || fail "an exit without a goodbye: $(cat "$scratch/out")"
nothing_left "MPICH's program"
