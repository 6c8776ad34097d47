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

aborts() { # WANTED-TEXT COMMAND...
    local wanted=$1 output start=$SECONDS
    shift
    output=$(timeout 100 "$@" 2>&1 </dev/null) && fail "$*: exit code 0"
    [[ $output == *"$wanted"* ]] || fail "$*: wanted '$wanted', it said: $output"
    [ $((SECONDS - start)) -lt 20 ] || fail "$*: took $((SECONDS - start)) s"
}

spawning=passes
try_all() { # LAUNCHER...
    passes "$@" -n 1 "$BUILD/examples/ring"
    passes "$@" -n 4 "$BUILD/examples/ring"
    passes "$@" -n 3 "$BUILD/tests/pt2pt/pt2pt-traffic"
    passes "$@" -n 5 "$BUILD/tests/coll/coll-all" 1 1000
    MUR_TRANSPORT=tcp passes "$@" -n 4 "$BUILD/tests/pt2pt/pt2pt-traffic"
    passes "$@" -n 3 "$BUILD/tests/engine/engine-fork" # whose children end without a goodbye to the launcher
    # A program that is no MPI program never calls: the limit is for it.
    MUR_SPAWN_TIMEOUT=10 $spawning "$@" -n 1 "$BUILD/tests/dynamic/dynamic-spawn"
    MUR_SPAWN_TIMEOUT=10 $spawning "$@" -n 2 "$BUILD/tests/dynamic/dynamic-spawn" 4
    aborts "MPI_Abort(MPI_COMM_WORLD, 5)" "$@" -n 3 "$VICTIM" abort
}

# Jobs come and go quickly, and the launcher is slow to notice.
passes_when_busy() { # COMMAND...
    local loops=()
    for _ in 1 2 3 4; do
        while :; do :; done &
        loops+=($!)
    done
    MUR_SPAWN_TIMEOUT=30 passes "$@"
    kill "${loops[@]}"
    wait "${loops[@]}" 2>/dev/null
}

if command -v mpiexec.hydra >/dev/null; then
    # Its proxies look up this host's name, which some containers do not know.
    getent hosts "$(uname -n)" >/dev/null || spawning="echo NOT TESTED: $(uname -n) has no address; spawn by"
    try_all mpiexec.hydra
    spawning=passes
    passes mpiexec.hydra -pmi-port -n 4 "$BUILD/examples/ring"
else
    echo "NOT TESTED under MPICH's mpiexec: it is not there"
fi
if command -v mpirun.openmpi >/dev/null; then
    try_all mpirun.openmpi --allow-run-as-root --oversubscribe
    passes_when_busy mpirun.openmpi --allow-run-as-root --oversubscribe -n 1 "$BUILD/tests/dynamic/dynamic-spawn" 40 only
else
    echo "NOT TESTED under Open MPI's mpirun: it is not there"
fi
[ $tested -gt 0 ] || exit 77
exit $FAILED
