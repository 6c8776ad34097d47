#!/bin/bash
# A program of MPICH spawns a job and publishes a name under our mpiexec, where that MPICH can do so under its own.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"
mpicc.mpich -o "$DIR/spawn" "$(dirname "$0")/mpich_spawn.c" ||
    { echo "NOT TESTED with programs of MPICH: there is no mpicc.mpich that works (Debian: libmpich-dev)"; exit 77; }
timeout 30 mpiexec.hydra -n 2 "$DIR/spawn" >/dev/null 2>&1 </dev/null ||
    { echo "NOT TESTED: this MPICH cannot spawn under its own mpiexec"; exit 77; }
for ranks in 1 2; do
    seen=$(timeout 60 "${RUN[@]}" -abi native -n $ranks "$DIR/spawn" 2>&1 </dev/null)
    same "MPICH's program that spawns, $ranks ranks" "0 children are well" "$? $seen"
done
seen=$(timeout 60 "${RUN[@]}" -n 2 "$DIR/spawn" 2>&1 </dev/null)
same "the same program on Murmur" "0 children are well" "$? $seen"
seen=$(timeout 60 "${RUN[@]}" -abi native -n 2 "$DIR/spawn" /no/such 2>&1 </dev/null) && fail "what cannot be started is an error"
contains "what cannot be started" "no program '/no/such'" "$seen"
finish
