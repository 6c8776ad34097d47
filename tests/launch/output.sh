# Output: whole lines, every byte, labels, prompts, a reader that is slow or gone.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

# Each line of a flood says its rank and length, and is of one letter.
intact() { # file, lines
    awk -v lines="$2" '{ c = substr("abcdefghijklmnopqrstuvwxyz", $1 % 26 + 1, 1); t = $3; gsub(c, "", t)
        if (NF != 3 || length($3) != $2 || t != "") { print "torn: " substr($0, 1, 80); bad = 1; exit } }
        END { if (!bad && NR != lines) print "lines: " NR; }' "$1"
}
code 0 -n 26 "$PUPPET" flood:100
same "a flood" "" "$(intact "$DIR/out" 2600)"
timeout 60 "${RUN[@]}" -n 8 "$PUPPET" flood:300 2>&1 </dev/null | { sleep 0.2; cat; } >"$DIR/out"
same "a flood into a slow pipe" "" "$(intact "$DIR/out" 2400)"
code 0 -l -n 4 "$PUPPET" flood:100
sed -n 's/^\[\([0-9]*\)\] \1 /\1 /p' "$DIR/out" >"$DIR/bare"
same "a labelled flood" "" "$(intact "$DIR/bare" 400)"
timeout 60 "${RUN[@]}" -n 4 sh -c "'$PUPPET' flood:100; '$PUPPET' flood:100 >&2" >"$DIR/out" 2>&1
same "stdout and stderr in one file" "" "$(intact "$DIR/out" 800)"
code 0 -n 4 sh -c "'$PUPPET' flood:50; '$PUPPET' flood:60 >&2"
same "stdout apart" "" "$(intact "$DIR/out" 200)"
same "stderr apart" "" "$(intact "$DIR/err" 240)"

# Byte for byte, also without newlines and with NULs.
head -c 20000000 /dev/urandom >"$DIR/random"
head -c 3000000 /dev/zero >>"$DIR/random"
code 0 cat "$DIR/random"
cmp "$DIR/random" "$DIR/out" || fail "bytes of one rank"
"${RUN[@]}" cat "$DIR/random" | cmp - "$DIR/random" || fail "bytes of one rank into a pipe"
code 0 -n 3 cat "$DIR/random"
same "bytes of three ranks" 69000000 "$(stat -c %s "$DIR/out")"
code 0 -n 4 "$PUPPET" say:x
same "no newline is added" xxxx "$(cat "$DIR/out"; echo)"
code 0 -n 1 true
same "nothing stays nothing" 0 "$(stat -c %s "$DIR/out")"

# A stdout that is closed: what ranks write to it is not lost silently. Who writes nothing needs none.
"${RUN[@]}" -n 2 echo lost 2>"$DIR/err" >&-
same "exit code with a closed stdout" 1 $?
contains "message" "cannot write the output of the ranks: Bad file descriptor" "$(cat "$DIR/err")"
"${RUN[@]}" -n 2 true 2>"$DIR/err" >&-
same "exit code of the silent with a closed stdout" 0 $?
"${RUN[@]}" -n 1 sh -c 'echo unseen >&2' 2>&-
same "exit code with a closed stderr" 0 $?

# An unfinished line is shown, and others do not run into it while it goes on.
"${RUN[@]}" "$PUPPET" say:'name? ' await:10 2>/dev/null >"$DIR/out" &
JOB=$!
is_prompt() { [ "$(cat "$DIR/out")" = 'name? ' ]; }
until_true is_prompt
kill -KILL $JOB
wait $JOB 2>/dev/null
mkfifo "$DIR/in"
code 0 -l -n 2 sh -c 'if [ $MUR_RANK = 0 ]; then printf open; read x <"$1/in"
    else until grep -q open "$1/out"; do :; done; echo line; echo >"$1/in"; fi' sh "$DIR"
same "a label starts a line" "[0] open
[1] line" "$(cat "$DIR/out")"
code 0 -l -n 1 "$PUPPET" line:a error:b
same "labels" "[0] a/[0] b" "$(cat "$DIR/out")/$(cat "$DIR/err")"

# Nobody reads: as quiet as SIGPIPE, and quick.
"${RUN[@]}" -n 4 yes 2>"$DIR/err" | head -n 1 >"$DIR/out"
same "exit codes" "141 0" "${PIPESTATUS[*]}"
same "message" "" "$(cat "$DIR/err")"
same "line" y "$(cat "$DIR/out")"
if [ -w /dev/full ]; then
    "${RUN[@]}" -n 2 yes >/dev/full 2>"$DIR/err"
    same "exit code" 1 $?
    contains "message" "No space left" "$(cat "$DIR/err")"
fi

# A job that has to end does not wait for a reader that has stopped.
mkfifo "$DIR/slow"
exec 9<>"$DIR/slow"
"${RUN[@]}" -n 2 yes >"$DIR/slow" 9>&- &
JOB=$!
until_true some_left 2
kill -TERM $JOB
wait $JOB
same "exit code" 143 $?
until_true none_left

# One that a failure has ended does: what was written shall be read. A signal ends that, too.
"${RUN[@]}" -n 2 sh -c '[ $MUR_RANK = 1 ] || { until [ -e "$0/flowing" ]; do sleep 0.02; done; exit 5; }; exec yes' \
    "$DIR" >"$DIR/slow" 2>"$DIR/err" 9>&- &
JOB=$!
until_true some_left 2
touch "$DIR/flowing"
until_true none_left
kill -0 $JOB || fail "a job that failed did not wait for the reader"
kill -TERM $JOB
is_over() { ! kill -0 $JOB 2>/dev/null; }
until_true is_over || kill -KILL $JOB
wait $JOB
same "exit code" 5 $?
finish
