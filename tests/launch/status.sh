# mpiexec -status: jobs that hang, each in another way, and what is said of them while they do; -timeout and SIGQUIT say
# the same. What is said is asked for again until it is there: a job needs a moment to come to where it hangs.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"
STUCK=$HELPERS/stuck
export STUCK_FILE=$DIR/file
TRIES=60 # there is at most one answer a second

begin() { # mpiexec's arguments; sets JOB
    "${RUN[@]}" "$@" >"$DIR/out" 2>"$DIR/err" </dev/null &
    JOB=$!
}

ended() { # signal
    kill -"$1" $JOB
    wait $JOB 2>/dev/null
    until_true none_left
}

status_says() { # parts
    local part
    "$MPIEXEC" -status $JOB >"$DIR/status" 2>&1 || return 1
    for part; do grep -qF -- "$part" "$DIR/status" || return 1; done
}

says() { # parts that the status comes to have, all at a time
    for _ in $(seq $TRIES); do
        status_says "$@" && return 0
        sleep 0.05
    done
    fail "status of $WAY: expected '$*' within:"
    cat "$DIR/status"
}

hangs() { # ranks, way, parts
    WAY="$2 on $1 ranks"
    begin -n "$1" "$STUCK" "$2"
    shift 2
    says "$@"
    ended INT
}

# ---- circles ----
hangs 2 ring "0 → 1 → 0: each receives from the next, and nobody sends" "in MPI_Recv, for a message from 1, tag 7"
hangs 16 ring "0 → 1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → 9 → 10 → 11 → 12 → 13 → 14 → 15 → 0: each receives"
hangs 64 ring "14 → 15 → ... (64 ranks) → 0: each receives from the next" "rank 63: in MPI_Recv"
hangs 6 rings "0 → 2 → 4 → 0: each receives" "1 → 3 → 5 → 1: each receives"
hangs 3 sends "0 → 1 → 2 → 0: each sends to the next, and nobody receives" "4194304 bytes"
hangs 4 all "0 → 1 → 2 → 3 → 0: each receives" "in MPI_Waitall, for 3 things: a message from 1, tag 0"
hangs 4 any "0 → 1 → 2 → 3 → 0: each receives" "in MPI_Waitany, for one of 3 things: a message from 1, tag 0"
hangs 4 locks "0 → 1 → 0: each waits for a lock that the next one holds"

hangs 3 self "0 → 0: it waits for itself, in MPI_Recv" "2 → 2: it waits for itself"
hangs 3 any_source "whoever could send what these wait for, from any rank, waits as well"
hangs 2 ending "0 → 1 → 0: each waits for the next: rank 0 is in MPI_Finalize" "one from 0, tag 1, of 4194304 bytes"

# ---- the odd rank ----
hangs 8 barrier "ranks 0-6: in MPI_Barrier on MPI_COMM_WORLD (call 4), for rank 7" \
    "7 ranks (0-6) wait in MPI_Barrier (call 4 on MPI_COMM_WORLD), to which rank 7 has not come: rank 7 is computing"
hangs 16 barrier "15 ranks (0-14) wait in MPI_Barrier (call 4 on MPI_COMM_WORLD), to which rank 15 has not come"
hangs 64 barrier "63 ranks (0-62) wait in MPI_Barrier (call 4 on MPI_COMM_WORLD), to which rank 63 has not come"
hangs 8 odd "to which rank 7 has not come: rank 7 is in MPI_Recv, for a message from 0, tag 9" "0 → 7 → 0"
hangs 5 nonblocking "ranks 0-3: in MPI_Wait on MPI_COMM_WORLD, for rank 4"
hangs 3 communicators "rank 0 waits in MPI_Barrier (call 1 on first)" "2 ranks (1,2) wait in MPI_Barrier (call 1 on second)"
hangs 4 order "3 ranks (0-2) wait in MPI_Allgather (call 1 on MPI_COMM_WORLD)" \
    "rank 3 waits in MPI_Allreduce (call 1 on other)"
hangs 4 poll "rank 0 is in and out of MPI (last call: MPI_Iprobe)"
hangs 4 split "in MPI_Comm_split on MPI_COMM_WORLD" "to which rank 0 has not come"
hangs 4 file_open "in MPI_File_open on MPI_COMM_WORLD" "to which rank 0 has not come: rank 0 is in MPI_Recv"
hangs 4 file_write "in MPI_File_write_at_all, for file '$STUCK_FILE', where it lacks rank 3" "to which rank 3 has not come"
hangs 4 probe "rank 0: in MPI_Probe, for a message from 3, tag 4, on MPI_COMM_WORLD" "0 → 3 → 0"
hangs 4 tag "one from 1, tag 6, of 4 bytes" "rank 0 waits for a message from 1, tag 5"
hangs 4 finalize "ranks 0-2 wait for rank 3: rank 3 is gone"

# ---- locks ----
hangs 4 lock "rank 1 waits for the lock of rank 1 of window 'shelf', which its rank 0 holds; rank 0 holds it" "0 → 1 → 0"
hangs 4 lock_computing "which its rank 0 holds; rank 0 holds it: rank 0 is computing"
hangs 4 epoch "in MPI_Win_start, for MPI_Win_post of rank 1, on a window of 4 ranks" "0 → 1 → 0"
hangs 3 file_lock "rank 0 waits for a lock of file '$STUCK_FILE'" "that process is a rank: rank 2 is in MPI_Barrier"

# ---- stopped processes, other jobs ----
hangs 5 stopped "is stopped by a signal; kill -CONT" "to which rank 4 has not come: rank 4 is outside MPI"
WAY=spawn
begin -n 2 "$STUCK" spawn
says "rank 0 is in MPI_Recv, for a message from 0 (a process of another job), tag 2" "rank 1 waits in MPI_Barrier"
ended INT

# ---- who asks ----
WAY="all at a time"
begin -n 2 "$STUCK" ring
says "0 → 1 → 0"
for i in $(seq 20); do
    "$MPIEXEC" -status $JOB >"$DIR/answer.$i" &
    ASKERS[i]=$!
done
wait "${ASKERS[@]}"
for i in $(seq 20); do contains "answer $i" "0 → 1 → 0" "$(cat "$DIR/answer.$i")"; done
"$MPIEXEC" -json -status $JOB >"$DIR/json"
python3 - "$DIR/json" <<'END' || fail "the JSON is not as it should be: $(cat "$DIR/json")"
import json, sys
[job] = json.load(open(sys.argv[1]))["jobs"]
assert job["size"] == 2 and [rank["state"] for rank in job["ranks"]] == ["waiting"] * 2
wait = job["ranks"][0]["waits"][0]
assert wait["for"] == "receive" and wait["peer"] == 1 and wait["tag"] == 7 and wait["bytes"] == 4
assert wait["communicator"] == {"name": "MPI_COMM_WORLD", "context": 0, "size": 2}
assert 0 < job["ranks"][0]["resting_share"] <= 1
[circle] = job["findings"]
assert circle["kind"] == "circle" and circle["ranks"] == [0, 1]
END
ended INT
WAY="sends, as JSON"
begin -n 3 "$STUCK" sends
says "0 → 1 → 2 → 0"
"$MPIEXEC" -json -status $JOB >"$DIR/json"
python3 - "$DIR/json" <<'END' || fail "the traffic is not as it should be: $(cat "$DIR/json")"
import json, sys
[job] = json.load(open(sys.argv[1]))["jobs"]
flows = {(flow["from"], flow["to"]): flow for flow in job["traffic"]}
for rank in range(3):
    flow = flows[rank, (rank + 1) % 3]
    assert flow["large"] == 1 and flow["large_bytes"] == 4 << 20 and flow["path_bytes"] > 0
assert (1, 0) not in flows
END
python3 - $JOB <<'END' || fail "strangers and nonsense at the socket"
import os, socket, sys
name = "\0murmur-job.%d.%s" % (os.getuid(), sys.argv[1])
def call(question):
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(60)
    line.connect(name)
    try:
        line.sendall(question)
    except BrokenPipeError:
        pass  # it is closed already, which is what reading will show
    return line
def is_refused(line):  # with what it has not read, closing it resets it
    try:
        return line.recv(100) == b""
    except ConnectionResetError:
        return True
silent = [call(b"") for _ in range(4)]  # they keep places, not the job
assert is_refused(call(b"x" * 100))
half = call(b"te")
half.shutdown(socket.SHUT_WR)
assert is_refused(half)
assert b"MPI_Send" in call(b"text\n").recv(100000)
if os.getuid() == 0:
    if os.fork() == 0:
        os.setuid(65534)
        os._exit(0 if is_refused(call(b"text\n")) else 1)
    assert os.wait()[1] == 0
END
ended INT
contains "an unknown job" "no job '1' of yours" "$("$MPIEXEC" -status 1 2>&1)"
code 2 -json -n 1 true

# ---- before the end ----
code 124 -timeout 2 -n 3 "$STUCK" ring
same "first line at the time limit" "mpiexec: the job reached its time limit of 2 s and was ended (3 ranks still ran)" \
    "$(head -1 "$DIR/err")"
contains "the time limit" "0 → 1 → 2 → 0: each receives" "$(cat "$DIR/err")"
WAY=SIGQUIT
begin -n 3 "$STUCK" odd
says "0 → 2 → 0"
ended QUIT
contains "SIGQUIT" "2 ranks (0,1) wait in MPI_Barrier (call 1 on MPI_COMM_WORLD)" "$(cat "$DIR/err")"

# Nothing is left of a job whose mpiexec was killed.
WAY=killed
begin -n 2 "$STUCK" ring
says "0 → 1 → 0"
ended KILL
contains "a killed job" "no job '$JOB' of yours" "$("$MPIEXEC" -status $JOB 2>&1)"
finish
