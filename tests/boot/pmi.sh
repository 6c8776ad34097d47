#!/bin/bash
# Ranks of ours under launchers of others, by the PMI client alone: MPICH's mpiexec.hydra with inherited descriptors and
# with a port, Open MPI's mpirun, which serves PMIx, and the small launcher of the tests; all protocols each serves. Without a launcher that can be reached,
# the signs of one are named.
# SPDX-License-Identifier: BSD-3-Clause
set -u
BUILD=${BUILD:-$PWD/build}
RANK=$BUILD/tests/boot/pmi-rank
SMALL=$BUILD/tests/launch/pmi_launcher
FAILED=0
unset "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" "${!OMPI_@}" 2>/dev/null

fail() { echo "FAILED: $*"; FAILED=1; }

run() { # WANTED-CODE RANKS-FINE COMMAND...
    local wanted=$1 fine=$2 output code
    shift 2
    output=$(timeout 60 "$@" 2>&1 </dev/null)
    code=$?
    if [ $code -ne "$wanted" ] || [ "$(grep -c ': fine$' <<<"$output")" -ne "$fine" ]; then
        fail "$*: exit code $code (wanted $wanted), $fine ranks should be fine, it said: $output"
    fi
}

spawns() { # COMMAND...
    local place
    place=$(mktemp -d)
    run 0 6 "$@" spawn "meet=$place"
    rm -r "$place"
}

says() { # WANTED-TEXT COMMAND...
    local wanted=$1 output
    shift
    output=$(timeout 60 env "$@" "$RANK" 2>&1 </dev/null)
    [ $? -eq 1 ] && [[ $output == *"$wanted"* ]] || fail "$*: wanted '$wanted', it said: $output"
}

for protocol in 1 2; do
    run 0 4 "$SMALL" 4 "$RANK" $protocol names
    run 0 4 "$SMALL" -o 4 "$RANK" $protocol
    run 7 0 "$SMALL" 3 "$RANK" $protocol abort
    run 121 0 "$SMALL" 2 "$RANK" $protocol quit
done
run 0 1 "$SMALL" 1 "$RANK"
for protocol in 1 2; do
    output=$(timeout 60 "$SMALL" 2 "$RANK" $protocol spawn 2>&1)
    [[ $output == *"spawn of 2 x '$RANK' 'child' wdir='/'"*"preput greeting='good%20day%3B%20child'"* ]] ||
        fail "spawn by PMI-$protocol: it said: $output"
done
run 0 30 "$SMALL" 30 "$RANK"

[ "$(timeout 60 "$RANK")" = "no launcher" ] || fail "a rank without launcher says: $("$RANK")"
[ "$(SLURM_PROCID=0 SLURM_NTASKS=4 timeout 60 "$RANK")" = "no launcher" ] || fail "a batch script's program is alone"
says "srun --mpi=pmi2" SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4
says "PMI_RANK=1" PMI_RANK=1 PMI_SIZE=2
says "PMI_FD=99" PMI_FD=99 PMI_RANK=1 PMI_SIZE=2
says "PMI_FD=1x" PMI_FD=1x PMI_RANK=1 PMI_SIZE=2
says "cannot connect to the launcher at PMI_PORT=127.0.0.1:1" PMI_PORT=127.0.0.1:1 PMI_ID=0
says "must be HOST:PORT" PMI_PORT=nonsense PMI_ID=0
says "Open MPI" OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2
says "PMIx" PMIX_RANK=0 PMIX_NAMESPACE=nobody
says "PMIX_NAMESPACE is missing" PMIX_RANK=0

MPIEXEC=$BUILD/bin/mpiexec
for protocol in 1 2; do
    run 0 4 "$MPIEXEC" -n 4 "$RANK" $protocol names
    spawns "$MPIEXEC" -n 2 "$RANK" $protocol
done

if command -v mpiexec.hydra >/dev/null; then
    for mode in "" -pmi-port; do
        run 0 4 mpiexec.hydra $mode -n 4 "$RANK" names
        run 0 3 mpiexec.hydra $mode -n 3 "$RANK" 2
        # Its proxies look up this host's name, which some containers do not know.
        if getent hosts "$(uname -n)" >/dev/null; then
            spawns mpiexec.hydra $mode -n 2 "$RANK"
        else
            echo "NOT TESTED: spawn by mpiexec.hydra; nobody knows the address of $(uname -n)"
        fi
    done
    run 7 0 mpiexec.hydra -n 3 "$RANK" abort
    says_two=$(timeout 60 mpiexec.hydra -n 1 "$RANK" : -n 1 "$RANK" 2>&1)
    [[ $says_two == *"rank 1 of 2 by PMI-1, appnum 1"* ]] || fail "two commands: it said: $says_two"
else
    echo "NOT TESTED under MPICH's launcher: mpiexec.hydra is missing (Debian: mpich)"
fi
if command -v mpirun.openmpi >/dev/null && ldconfig -p | grep -q 'libpmix\.so\.2'; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    run 0 4 mpirun.openmpi --oversubscribe -n 4 "$RANK" x names
    spawns mpirun.openmpi --oversubscribe -n 2 "$RANK"
    run 7 0 mpirun.openmpi --oversubscribe -n 3 "$RANK" abort
else
    echo "NOT TESTED with PMIx: mpirun.openmpi or libpmix.so.2 is missing (Debian: openmpi-bin, libpmix2)"
fi
exit $FAILED
