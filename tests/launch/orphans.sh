# Whoever is killed, nothing stays: SIGKILL for mpiexec, the agent, both, a rank; daemons of ranks.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

start() { # four ranks, each with a daemon unless told otherwise; sets JOB and AGENT
    : >"$DIR/out"
    "${RUN[@]}" -n 4 "$PUPPET" "$@" line:ready wait >"$DIR/out" 2>"$DIR/err" &
    JOB=$!
    until_true has_lines "$DIR/out" 4
    AGENT=$(agent_of $JOB)
}

start daemon
until_true some_left 8
kill -9 $JOB
wait $JOB 2>/dev/null
until_true none_left

start daemon
kill -9 $AGENT
wait $JOB
same "exit code" 200 $?
contains "message" "the agent on $(hostname) (pid ${AGENT// /}) was killed by signal 9" "$(cat "$DIR/err")"
none_left || fail "processes are left after the agent's death"

start daemon # which the guard finds
until_true some_left 8
kill -9 $JOB $AGENT
wait $JOB 2>/dev/null
until_true none_left

# All three at once: nobody is left to tidy up, but the children of a rank that is a script go, too.
: >"$DIR/out"
"${RUN[@]}" -n 2 sh -c '"$0" line:ready wait; true' "$PUPPET" >"$DIR/out" 2>"$DIR/err" &
JOB=$!
until_true has_lines "$DIR/out" 2
kill -9 $JOB $(guard_of $JOB) $(agent_of $JOB)
wait $JOB 2>/dev/null
until_true none_left

start daemon
until_true some_left 8
GUARD=$(guard_of $JOB)
kill -9 $JOB $GUARD
wait $JOB 2>/dev/null
until_true none_left

# What is sent to mpiexec's process group does not reach the guard.
set -m
start daemon
set +m
until_true some_left 8
kill -9 -- -$JOB
wait $JOB 2>/dev/null
until_true none_left

start daemon
kill -9 "$(survivors | head -n 1)"
wait $JOB
none_left || fail "processes are left after a rank's death"

# A rank's end ends its daemons, even those that hold its output open; mpiexec does not wait for them.
code 0 -n 2 "$PUPPET" daemon line:done
same "output" 2 "$(grep -c done "$DIR/out")"
none_left || fail "daemons are left"

# While a slow reader blocks the output, a dead mpiexec still ends the job.
mkfifo "$DIR/slow"
exec 9<>"$DIR/slow" # a reader that never reads
"${RUN[@]}" -n 2 yes >"$DIR/slow" &
JOB=$!
until_true some_left 2
kill -9 $JOB
wait $JOB 2>/dev/null
until_true none_left

# Children that mpiexec had before it was mpiexec are not its to kill.
: >"$DIR/out"
(sleep 1000 & echo $! >"$DIR/pid"; exec "$MPIEXEC" "$PUPPET" line:ready wait) >"$DIR/out" 2>"$DIR/err" &
JOB=$!
until_true has_lines "$DIR/out" 1
sleeper=$(cat "$DIR/pid")
kill -9 $(agent_of $JOB)
wait $JOB
same "exit code" 200 $?
kill "$sleeper" || fail "a stranger was killed"
finish
