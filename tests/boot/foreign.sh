#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of ours under the launchers of others: messages, collectives, spawned jobs, an abort and a death.
set -u
BUILD=${BUILD:-$PWD/build}
VICTIM=$BUILD/tests/boot/boot-victim
FAILED=0
unset "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" "${!OMPI_@}" "${!MUR_@}" 2>/dev/null
tested=0

fail() { echo "FAILED: $*"; FAILED=1; }

passes() { # COMMAND...
    local output
    output=$(timeout 100 "$@" 2>&1 </dev/null) || fail "$*: exit code $?, it said: $(tail -5 <<<"$output")"
    tested=$((tested + 1))
}

# Under Open MPI's mpirun a job that is spawned on a busy machine now and then does not arrive, and the call ends with
# its error; why is not known yet. So three tries, and a line about each that failed.
passes_in_the_end() { # COMMAND...
    local output try
    tested=$((tested + 1))
    for try in 1 2 3; do
        output=$(timeout 100 "$@" 2>&1 </dev/null) && return
        echo "try $try of $*: exit code $?, it said: $(tail -5 <<<"$output")"
    done
    fail "$*: three times"
}

aborts() { # WANTED-TEXT COMMAND...
    local wanted=$1 output start=$SECONDS
    shift
    output=$(timeout 100 "$@" 2>&1 </dev/null) && fail "$*: exit code 0"
    [[ $output == *"$wanted"* ]] || fail "$*: wanted '$wanted', it said: $output"
    [ $((SECONDS - start)) -lt 20 ] || fail "$*: took $((SECONDS - start)) s"
}

try_all() { # LAUNCHER...
    passes "$@" -n 1 "$BUILD/examples/ring"
    passes "$@" -n 4 "$BUILD/examples/ring"
    passes "$@" -n 3 "$BUILD/tests/pt2pt/pt2pt-traffic"
    passes "$@" -n 5 "$BUILD/tests/coll/coll-all" 1 1000
    MUR_TRANSPORT=tcp passes "$@" -n 4 "$BUILD/tests/pt2pt/pt2pt-traffic"
    # A program that is no MPI program never calls: the limit is for it.
    MUR_SPAWN_TIMEOUT=10 $spawning "$@" -n 1 "$BUILD/tests/dynamic/dynamic-spawn"
    MUR_SPAWN_TIMEOUT=10 $spawning "$@" -n 2 "$BUILD/tests/dynamic/dynamic-spawn" 4
    aborts "MPI_Abort(MPI_COMM_WORLD, 5)" "$@" -n 3 "$VICTIM" abort
}

if command -v mpiexec.hydra >/dev/null; then
    spawning=passes
    # Its proxies look up this host's name, which some containers do not know.
    getent hosts "$(uname -n)" >/dev/null || spawning="echo NOT TESTED: $(uname -n) has no address; spawn by"
    try_all mpiexec.hydra
    passes mpiexec.hydra -pmi-port -n 4 "$BUILD/examples/ring"
else
    echo "NOT TESTED under MPICH's mpiexec: it is not there"
fi
if command -v mpirun.openmpi >/dev/null; then
    spawning=passes_in_the_end try_all mpirun.openmpi --allow-run-as-root --oversubscribe
else
    echo "NOT TESTED under Open MPI's mpirun: it is not there"
fi
[ $tested -gt 0 ] || exit 77
exit $FAILED
