#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Snapshots of jobs on one host, and restarts from them: node.sh TRAFFIC. Results are those of a job that nothing has
# disturbed; nothing is left behind.
. "$(dirname "$0")/lib.sh"
traffic=$1
save="-ckpointlib criu -ckpoint-prefix $snapshots"

"$mpiexec" -ckpoint-check >"$out" 2>&1 || skip "$(cat "$out")"

rounds=600
"$mpiexec" -n 4 "$traffic" $rounds 0 "$scratch/undisturbed" >"$scratch/expected" || fail "the traffic without snapshots"
good=$(result "$scratch/expected")

# A job of which snapshots are taken ends as ever, and the last two stay.
start $save -ckpoint-interval 0.3 -n 4 "$traffic" $rounds 3000 "$scratch/file"
finish 0
[ "$(result "$out")" = "$good" ] || fail "snapshots have changed the result"
[ "$(ls "$snapshots" | wc -l)" = 2 ] || fail "not two snapshots are kept: $(ls "$snapshots")"
cmp "$scratch/undisturbed" "$scratch/file" || fail "snapshots have changed the file"
rm -r "$snapshots"/*

# Killed as a whole, and restarted by Hydra's words and by ours; the file is written once more from where it was.
rm "$scratch/file"
start $save -ckpoint-interval 0.4 -n 4 "$traffic" $rounds 10000 "$scratch/file"
wait_for 1
sleep 0.3
kill_job
start $save
finish 0
[ "$(result "$out")" = "$good" ] || fail "the result of a restarted job"
cmp "$scratch/undisturbed" "$scratch/file" || fail "the file of a restarted job"
rm "$out"
start -restart "$snapshots/$(ls "$snapshots" | sort -n | head -1)"
finish 0
[ "$(result "$out")" = "$good" ] || fail "the result of a job restarted from an older snapshot"
rm -r "$snapshots"/*

# When asked: by signal, by process number, and as the last act, with the code that means "queue it again".
start $save -n 3 "$traffic" $rounds 10000
until_true grep -q '^round' "$out" || fail "the job has not begun"
kill -USR1 $job
wait_for 0
"$mpiexec" -checkpoint $job || fail "-checkpoint"
wait_for 1
kill_job
start -restart "$snapshots" -ckpoint-on-term
until_true grep -q '^round' "$out" || fail "the job has not gone on"
kill -TERM $job
finish 85
wait_for 2
start -restart "$snapshots"
finish 0
"$mpiexec" -n 3 "$traffic" $rounds 0 >"$scratch/expected"
[ "$(result "$out")" = "$(result "$scratch/expected")" ] || fail "the result after SIGTERM"
rm -r "$snapshots"/*

# No MPI, and a script: standard input and a pipe between processes are there after a restart.
start $save -ckpoint-interval 0.3 -n 2 sh -c 'for i in $(seq 40); do sleep 0.1; done | cat; echo all is well'
wait_for 0
kill_job
start -restart "$snapshots"
finish 0
[ "$(grep -c 'all is well' "$out")" = 2 ] || fail "a script that was restarted"
exit 0
