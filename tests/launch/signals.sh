# Signals to mpiexec: what is passed on, the grace after the first SIGINT, the end at the second, stop and continue.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

# mpiexec in the background, as a shell with job control starts it: in a process group of its own. The system hangs up
# a group that no such shell watches when one of its processes is stopped and another one ends. Sets JOB.
start() {
    : >"$DIR/out"
    set -m
    "${RUN[@]}" "$@" >"$DIR/out" 2>"$DIR/err" </dev/null &
    JOB=$!
    set +m
}

ended() { # expected code
    wait $JOB
    same "exit code" "$1" "$?"
    until_true none_left
}

for signal in USR1:10 USR2:12; do
    start -n 3 "$PUPPET" block:${signal#*:} line:ready await:${signal#*:} line:got
    until_true has_lines "$DIR/out" 3
    kill -${signal%:*} $JOB
    ended 0
    same "ranks that got SIG${signal%:*}" 3 "$(grep -c got "$DIR/out")"
done

for signal in INT:2 TERM:15 HUP:1 QUIT:3; do
    start -n 2 "$PUPPET" line:ready wait
    until_true has_lines "$DIR/out" 2
    kill -${signal%:*} $JOB
    ended $((128 + ${signal#*:}))
    same "message on SIG${signal%:*}" "" "$(cat "$DIR/err")"
done

# Ranks that end by themselves within the grace lose no output.
start -n 2 "$PUPPET" block:2 line:ready await:2 line:saved
until_true has_lines "$DIR/out" 2
kill -INT $JOB
ended 130
same "last words" 2 "$(grep -c saved "$DIR/out")"

# So do stopped ranks: they are continued, and see the signal.
are_stopped() { # how many
    [ "$(cat $(survivors | sed 's,.*,/proc/&/stat,') 2>/dev/null | grep -c ') T ')" = "$1" ]
}
start -n 2 "$PUPPET" block:15 line:ready stop await:15 line:saved
until_true has_lines "$DIR/out" 2
until_true are_stopped 2
kill -TERM $JOB
ended 143
same "last words of stopped ranks" 2 "$(grep -c saved "$DIR/out")"

# Ranks that ignore SIGINT are killed after the grace, or at once at the second SIGINT.
start -n 2 "$PUPPET" 0/ignore:2 line:ready wait
until_true has_lines "$DIR/out" 2
kill -INT $JOB
ended 130
contains "message" "1 rank did not end on SIGINT" "$(cat "$DIR/err")"
# Of ranks that end in other ways none is counted. The grace of a rank does not run while it waits for a core.
start -n 4 "$PUPPET" 0/ignore:15 1/ignore:15 2/block:15 line:ready 2/await:15 2/exit:3 wait
until_true has_lines "$DIR/out" 4
kill -TERM $JOB
ended 143
contains "message" "2 ranks did not end on SIGTERM" "$(cat "$DIR/err")"
start -n 24 taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$PUPPET" block:10 ^0/block:15 line:ready 0/await:10 \
    0/kill:9 ^0/await:15 ^0/compute:30 line:saved
until_true has_lines "$DIR/out" 24
kill -USR1 $JOB
ended 137
same "last words of crowded ranks" 23 "$(grep -c saved "$DIR/out")"

# But a rank that hardly gets a core does not hold up the end for ever: this one competes with another process.
if chrt -i 0 true 2>/dev/null; then
    cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    start -n 1 taskset -c "$cpu" "$PUPPET" ignore:15 line:ready compute:1000000
    until_true has_lines "$DIR/out" 1
    rank=$(survivors | head -n 1)
    chrt -a -i -p 0 "$rank"
    { echo 19 >"/proc/$rank/autogroup"; } 2>/dev/null # where the system shares cores between sessions first
    taskset -c "$cpu" "$PUPPET" compute:1000000 &
    hog=$!
    kill -TERM $JOB
    is_over() { ! kill -0 $JOB 2>/dev/null; }
    until_true is_over || kill -KILL $JOB
    kill -KILL $hog
    ended 143
    contains "message" "1 rank did not end on SIGTERM" "$(cat "$DIR/err")"
fi

start -n 2 "$PUPPET" block:2 line:ready await:2 line:not-yet wait
until_true has_lines "$DIR/out" 2
kill -INT $JOB
until_true has_lines "$DIR/out" 4
kill -INT $JOB
ended 130

# A stopped job goes on, and signals reach what a rank has started.
start -n 2 sh -c "'$PUPPET' line:ready block:10 await:10 line:got; exit 0"
until_true has_lines "$DIR/out" 2
is_in_state() { [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = "$2" ]; }
kill -TSTP $JOB
until_true is_in_state $JOB T
rank=$(survivors | head -n 1)
until_true is_in_state "$rank" T
kill -CONT $JOB
until_true is_in_state "$rank" S
kill -TERM $JOB
ended 143

# A rank that does something else with SIGTSTP gets it.
start -n 2 sh -c 'trap "touch $0.\$MUR_RANK; exit 0" TSTP; echo ready; while :; do sleep 0.05; done' "$DIR/got"
until_true has_lines "$DIR/out" 2
kill -TSTP $JOB
until_true test -e "$DIR/got.0"
until_true test -e "$DIR/got.1"
kill -CONT $JOB
ended 0

# So do ranks end while mpiexec is stopped where no shell watches it, and it ends as they did.
rm -f "$DIR"/got.*
: >"$DIR/out" # or the lines of the job before would be taken for this one's
setsid "${RUN[@]}" -n 2 sh -c 'trap "touch $0.\$MUR_RANK; exit 4" TSTP; echo ready; while :; do sleep 0.05; done' \
    "$DIR/got" >"$DIR/out" 2>"$DIR/err" </dev/null &
JOB=$!
until_true has_lines "$DIR/out" 2
kill -TSTP $JOB
until_true test -e "$DIR/got.0"
until_true test -e "$DIR/got.1"
sleep 0.3
kill -CONT $JOB
ended 4

# Each rank leads a session: the kernel may share processors between sessions.
start -n 2 "$PUPPET" line:ready wait
until_true has_lines "$DIR/out" 2
for rank in $(survivors); do
    [ "$(readlink "/proc/$rank/exe")" = "$(readlink -f "$PUPPET")" ] || continue
    same "session of a rank" "$rank" "$(sed 's/.*) //' "/proc/$rank/stat" | cut -d' ' -f4)"
done
kill -TERM $JOB
ended 143

# A rank that somebody stops is told; one that the user stops with the whole job was not.
same "stops of a whole job" "" "$(cat "$DIR/err")"
start -n 2 "$PUPPET" line:ready wait
until_true has_lines "$DIR/out" 2
rank=$(survivors | head -n 1)
kill -STOP "$rank"
until_true grep -q "was stopped by SIGSTOP; the job waits for it to go on (kill -CONT $rank)" "$DIR/err"
kill -TERM $JOB
ended 143

# The time limit holds, and signals end the job, when somebody has stopped the agent.
start -timeout 1 -n 2 "$PUPPET" line:ready wait
until_true has_lines "$DIR/out" 2
kill -STOP $(agent_of $JOB)
ended 124
start -n 2 "$PUPPET" line:ready wait
until_true has_lines "$DIR/out" 2
kill -STOP $(agent_of $JOB)
kill -TERM $JOB
ended 143

# nohup keeps SIGHUP away.
: >"$DIR/out"
(trap '' HUP; exec "${RUN[@]}" "$PUPPET" line:ready wait) >"$DIR/out" &
JOB=$!
until_true has_lines "$DIR/out" 1
kill -HUP $JOB
kill -TERM $JOB
ended 143
finish
