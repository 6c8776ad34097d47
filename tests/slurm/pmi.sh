#!/bin/bash
# Ranks of ours under a real Slurm, by the PMI client alone: srun --mpi=pmi2 with both wire protocols, --mpi=pmix through
# libpmix, one node and two. Without a plugin srun is named as the launcher that
# cannot be reached, and a batch script's own program is alone. Nothing of the cluster is left in the end.
# SPDX-License-Identifier: BSD-3-Clause
set -u
BUILD=${BUILD:-$PWD/build}
RANK=$BUILD/tests/boot/pmi-rank
FAILED=0
. "$(dirname "$0")/cluster.sh"

missing=$(cluster_missing)
if [ -n "$missing" ]; then
    echo "NOT TESTED under Slurm: missing are" $missing
    exit 77
fi
cluster_start || exit 1

fail() { echo "FAILED: $*"; FAILED=1; }

run() { # WANTED-RANKS WANTED-WORD ARGUMENTS-OF-SRUN...
    local ranks=$1 word=$2 output code
    shift 2
    output=$(timeout 60 srun "$@" 2>&1 </dev/null)
    code=$?
    if [ $code -ne 0 ] || [ "$(grep -c "by $word.*: fine$" <<<"$output")" -ne "$ranks" ]; then
        fail "srun $*: exit code $code, $ranks ranks should be fine by $word, it said: $output"
    fi
}

aborts() { # ARGUMENTS-OF-SRUN...
    local output code start=$SECONDS
    output=$(timeout 60 srun "$@" abort 2>&1 </dev/null)
    code=$?
    if [ $code -eq 0 ] || [ $((SECONDS - start)) -gt 25 ]; then
        fail "srun $* abort: exit code $code after $((SECONDS - start)) s, it said: $output"
    fi
}

run 4 PMI-1 --mpi=pmi2 -N 1 --overcommit -n 4 "$RANK"
run 4 PMI-1 --mpi=pmi2 -N 2 -n 4 "$RANK" names
run 4 PMI-1 --mpi=pmi2 -N 2 -n 4 --distribution=cyclic "$RANK"
run 4 PMI-2 --mpi=pmi2 -N 2 -n 4 "$RANK" 2 names
aborts --mpi=pmi2 -n 3 "$RANK"
aborts --mpi=pmi2 -n 3 "$RANK" 2

cyclic=$(timeout 60 srun --mpi=pmi2 -N 2 -n 4 --distribution=cyclic "$RANK" 2>&1 | grep -c "rank [13]: node 1")
[ "$cyclic" -eq 2 ] || fail "ranks dealt in turn: $cyclic odd ones on node 1"

if srun --mpi=list 2>&1 | grep -q pmix && ldconfig -p | grep -q 'libpmix\.so\.2'; then
    run 4 PMIx --mpi=pmix -N 1 --overcommit -n 4 "$RANK"
    run 4 PMIx --mpi=pmix -N 2 -n 4 "$RANK"
    aborts --mpi=pmix -n 3 "$RANK"
    output=$(timeout 60 srun --mpi=pmix -K -n 2 "$RANK" names 2>&1)
    [[ $output == *"publish failed: the launcher (PMIx) refused to publish"* ]] || fail "publish by PMIx: $output"
else
    echo "NOT TESTED with PMIx: Slurm's plugin or libpmix is missing"
fi

# Whole programs, on two nodes: by sockets between them, by shared memory on each.
plugins=pmi2
srun --mpi=list 2>&1 | grep -q pmix && ldconfig -p | grep -q 'libpmix\.so\.2' && plugins="pmi2 pmix"
for plugin in $plugins; do
    for program in "$BUILD/examples/ring" "$BUILD/tests/pt2pt/pt2pt-traffic"; do
        output=$(timeout 60 srun --mpi=$plugin -N 2 -n 4 "$program" 2>&1) || fail "srun --mpi=$plugin $program: $output"
    done
    output=$(timeout 60 srun --mpi=$plugin -K -n 3 "$BUILD/tests/boot/boot-victim" abort 2>&1) && fail "abort: $output"
done
# mpiexec in an allocation: it starts its agents by srun, one rank a slot.
output=$(timeout 100 salloc -Q -N 2 -n 4 "$BUILD/bin/mpiexec" "$BUILD/examples/ring" 2>&1 </dev/null)
[[ $output == *"ring of 4 ranks"* ]] || fail "mpiexec in an allocation: $output"
output=$(timeout 100 salloc -Q -N 2 -n 2 "$BUILD/bin/mpiexec" -l sh -c 'echo $SLURMD_NODENAME' 2>&1 </dev/null | sort)
[ "$(wc -l <<<"$output")" = 2 ] || fail "mpiexec in an allocation of two nodes: $output"

output=$(timeout 60 srun --mpi=none -n 2 "$BUILD/examples/ring" 2>&1)
[ $? -ne 0 ] && [[ $output == *"srun --mpi=pmi2"* ]] || fail "srun --mpi=none ring: $output"

output=$(timeout 60 srun --mpi=none -n 2 "$RANK" 2>&1)
[ $? -eq 1 ] && [[ $output == *"srun started this process"*"srun --mpi=pmi2"* ]] || fail "srun --mpi=none: $output"

printf '#!/bin/sh\n%s\n' "$RANK" >"$CLUSTER/batch.sh"
timeout 60 sbatch -Q -W -n 4 -o "$CLUSTER/batch.out" "$CLUSTER/batch.sh" || fail "sbatch ends with $?"
[ "$(cat "$CLUSTER/batch.out")" = "no launcher" ] || fail "a batch script's program: $(cat "$CLUSTER/batch.out")"

[ $FAILED -eq 0 ] || cluster_log
trap - EXIT
cluster_stop
[ ! -e "$CLUSTER" ] || fail "$CLUSTER is left"
for pid in $(grep -lzs "^SLURM_CONF=$SLURM_CONF\$" /proc/[0-9]*/environ | cut -d/ -f3); do
    [ ! -d "/proc/$pid" ] || fail "process $pid is left: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
done
exit $FAILED
