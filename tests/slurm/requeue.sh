#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A batch job of a real Slurm that is told to end is saved, queued again, and goes on where it was: requeue.sh TRAFFIC.
# The batch script is the one of docs/checkpoint.md.
set -u
traffic=$1
. "$(dirname "$0")/cluster.sh"
missing=$(cluster_missing)
[ -z "$missing" ] || { echo "SKIPPED: no Slurm here: $missing" >&2; exit 77; }
export MUR_CRIU=${MUR_CRIU:-$BUILD/criu/criu} PATH=$BUILD/bin:$PATH
"$MPIEXEC" -ckpoint-check >/dev/null 2>&1 || { echo "SKIPPED: no snapshots here" >&2; exit 77; }
NODES=2
cluster_start || exit 1

fail() {
    echo "FAILED: $*" >&2
    cat "$CLUSTER/out"
    cluster_log
    exit 1
}

DIR=$CLUSTER/snapshots
mkdir "$DIR"
rounds=400
"$MPIEXEC" -n 4 "$traffic" $rounds 0 >"$CLUSTER/expected" || fail "the traffic alone"
{
    echo '#!/bin/bash'
    echo "DIR=$DIR"
    sed -n '/^    words=/,/^    \[ /s/^    //p' "$(dirname "$0")/../../docs/checkpoint.md" |
        sed "s|\./a\.out|-n 4 $traffic $rounds 20000|"
} >"$CLUSTER/batch"
grep -q "$traffic" "$CLUSTER/batch" || fail "docs/checkpoint.md has no batch script"
job=$(sbatch --parsable --requeue --open-mode=append -N 2 -n 4 -o "$CLUSTER/out" "$CLUSTER/batch") || fail "sbatch"

until_true() {
    for _ in $(seq 600); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}
until_true grep -qs '^round 50' "$CLUSTER/out" || fail "the job does not begin"
scancel --signal=TERM --batch "$job"
until_true grep -q 'the job is saved' "$CLUSTER/out" || fail "the job is not saved"
is_pending() { [ "$(squeue -h -j "$job" -o %T 2>/dev/null)" = PENDING ]; }
until_true is_pending || fail "the job is not queued again"
scontrol update "jobid=$job" starttime=now || fail "scontrol" # Slurm would let it wait for two minutes
until_true grep -q '^digest' "$CLUSTER/out" || fail "the job does not go on"
[ "$(grep '^digest' "$CLUSTER/out")" = "$(grep '^digest' "$CLUSTER/expected")" ] || fail "the result"
[ "$(grep -c '^round 0$' "$CLUSTER/out")" = 1 ] || fail "the job has begun anew"
exit 0
