#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job is killed while it writes: mpiexec, one rank, or all at once. Nothing is left but the file, which the next job
# opens and writes again, and others read byte for byte.
set -u
command -v pgrep >/dev/null || { echo "no pgrep"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$folder.out"' EXIT

# Those that are still there: the folder's name is in no other job's command lines.
ranks_of_job() { pgrep -f "^$HELPER $folder/matrix"; }

fail() {
    echo "failed with MUR_IO_SHARED=$MUR_IO_SHARED, MUR_NODES=${MUR_NODES:-}, $form, $victim killed: $*"
    exit 1
}

one_case() {
    : >"$folder.out" # here, not when the job's shell comes to it: what the case before wrote is not this one's
    "$MPIEXEC" -n 4 "$HELPER" "$folder/matrix" 4 1000000 $form >"$folder.out" 2>&1 &
    job=$!
    for ((i = 0; i < 200; i++)); do
        grep -q writing "$folder.out" && break
        sleep 0.05
    done
    ranks=$(ranks_of_job)
    [ "$(wc -w <<<"$ranks")" = 4 ] || fail "the job has the ranks $ranks: $(cat "$folder.out")"
    case $victim in
    mpiexec) kill -9 $job ;;
    rank) kill -9 "$(tail -1 <<<"$ranks")" ;;
    all) kill -9 $job $ranks ;;
    esac
    wait $job 2>/dev/null && fail "the job did not tell"
    for ((i = 0; i < 100; i++)); do
        [ -n "$(ranks_of_job)" ] || break
        sleep 0.05
    done
    [ -z "$(ranks_of_job)" ] || fail "ranks are left"
    grep -q ":$(stat -c %i "$folder/matrix") " /proc/locks && fail "a lock is left"
    output=$(timeout 30 "$MPIEXEC" -n 3 "$HELPER" "$folder/matrix" 4 1 2>&1)
    [ "$(grep -c '^written$' <<<"$output")" -eq 3 ] || fail "the next job: $output"
    output=$(timeout 30 "$MPIEXEC" -n 2 "$HELPER" "$folder/matrix" 4 3 check 2>&1)
    [ "$(grep -c '^written$' <<<"$output")" -eq 2 ] || fail "reading: $output"
    left=$(ls -A "$folder")
    [ "$left" = matrix ] || fail "in the folder: $left"
}

# Each form meets several of the victims, on one node and on two.
for case in "1 all rank" "1 sieve all" "1 later mpiexec" "0 all mpiexec" "0 sieve rank" "0 later all" \
    "1 all all 2" "1 locked rank 2" "1 all rank 1"; do
    read -r MUR_IO_SHARED form victim MUR_NODES <<<"$case"
    export MUR_IO_SHARED MUR_NODES
    [ -n "$MUR_NODES" ] || unset MUR_NODES
    one_case
done
