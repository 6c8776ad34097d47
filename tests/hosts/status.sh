#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec -status of jobs that hang on three hosts, with agents started by a command, by each other, and by daemons.
# status.sh STUCK: the program of tests/launch/stuck.c
. "$(dirname "$0")/lib.sh"
hosts_up 3
stuck=$1
export HOME=$scratch STUCK_FILE=$scratch/file
unset MUR_PHRASE_FILE

asks() { ip netns exec "$tag-h0" "$mpiexec" -status "$@"; }

# The status comes to have these parts, all at a time; a job needs a moment to come to where it hangs.
says() {
    local part
    for _ in $(seq 60); do
        asks >"$scratch/status" 2>&1
        for part; do grep -qF -- "$part" "$scratch/status" || continue 2; done
        return 0
    done
    fail "$what: expected '$*' within: $(cat "$scratch/status") $(cat "$scratch/out")"
}

# In h0, as the leader of what is to be ended.
hangs() { # ranks, way, options of mpiexec before --, parts
    local ranks=$1 way=$2 options=()
    shift 2
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    what="$way with ${options[*]}"
    ip netns exec "$tag-h0" "$mpiexec" "${options[@]}" -n "$ranks" "$stuck" "$way" >"$scratch/out" 2>&1 </dev/null &
    job=$!
    says "$@"
    [ "$way" != tag ] || asks -json | python3 -c '
import json, sys
[job] = json.load(sys.stdin)["jobs"]
assert any(flow["from"] == 1 and flow["to"] == 0 and flow["path_bytes"] > 4 for flow in job["traffic"]), job
' || fail "the traffic between hosts"
    kill -INT $job
    wait $job 2>/dev/null
}

by_command=(-launcher-exec "$scratch/rsh" -host h1:2,h2:2,h3:2 -map-by node)
hangs 3 ring "${by_command[@]}" -- "on h1: ranks 0" "on h3: ranks 2" "0 → 1 → 2 → 0: each receives from the next"
hangs 6 sends "${by_command[@]}" -- "0 → 1 → 2 → 3 → 4 → 5 → 0: each sends to the next, and nobody receives"
hangs 6 barrier "${by_command[@]}" -- "to which rank 5 has not come: rank 5 is computing" \
    "wait in MPI_Barrier (call 4 on MPI_COMM_WORLD)"
hangs 6 odd "${by_command[@]}" -agent-width 1 -- "to which rank 5 has not come: rank 5 is in MPI_Recv" "tag 9"
hangs 6 communicators "${by_command[@]}" -- "MPI_Barrier (call 1 on first)" "MPI_Barrier (call 1 on second)"
hangs 6 order "${by_command[@]}" -- "in MPI_Allgather (call 1 on MPI_COMM_WORLD)" "in MPI_Allreduce (call 1 on other)"
hangs 6 lock "${by_command[@]}" -- "waits for the lock of rank 1 of window 'shelf'" "rank 0 holds it" \
    "to which rank 1 has not come"
hangs 6 stopped "${by_command[@]}" -- "rank 5 on h3" "is stopped by a signal; kill -CONT" \
    "to which rank 5 has not come: rank 5 is outside MPI"
hangs 6 tag "${by_command[@]}" -- "one from 1, tag 6, of 4 bytes"
hangs 6 epoch "${by_command[@]}" -- "for MPI_Win_post of rank 1" "0 → 1 →"
hangs 6 probe "${by_command[@]}" -- "in MPI_Probe, for a message from 5, tag 4" "to which rank 0 has not come"
hangs 6 split "${by_command[@]}" -- "in MPI_Comm_split on MPI_COMM_WORLD" "to which rank 0 has not come"
hangs 6 file_write "${by_command[@]}" -- "in MPI_File_write_at_all" "rank 5 has not come: rank 5 is in MPI_Recv"
hangs 6 file_lock "${by_command[@]}" -- "waits for a lock of file '$STUCK_FILE'"
nothing_left "jobs that hung"

smpd=$(dirname "$mpiexec")/smpd
"$smpd" -set phrase "Status-$$" || skip "no settings can be written"
for i in 1 2 3; do
    ip netns exec "$tag-h$i" unshare -u sh -c "hostname h$i; exec $smpd -s" || fail "the daemon on h$i does not start"
done
hangs 6 ring -launcher smpd -noprompt -host 10.77.0.1:2,10.77.0.2:2,10.77.0.3:2 -- "0 → 1 → 2 → 3 → 4 → 5 → 0: each receives"
echo "status across hosts: all is well"
