# Standard input: every byte to rank 0, or to whom -stdin names, nothing to the others; terminals in the foreground and in the background.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

head -c 100000000 /dev/zero | tr '\0' 'x' >"$DIR/big"
sum=$(md5sum <"$DIR/big")
seen=$("${RUN[@]}" -n 2 sh -c 'if [ $MUR_RANK = 0 ]; then md5sum; else wc -c >&2; fi' <"$DIR/big" 2>"$DIR/err")
same "a file" "$sum" "$seen"
same "the others read" 0 "$(tr -d ' ' <"$DIR/err")"
same "a pipe" "$sum" "$(cat "$DIR/big" | "${RUN[@]}" md5sum)"
same "what rank 0 leaves" two "$(printf 'one\ntwo\n' >"$DIR/two"; { "${RUN[@]}" true; sed -n 2p; } <"$DIR/two")"
"${RUN[@]}" -n 2 wc -c <&- >"$DIR/out"
same "a closed one" 00 "$(tr -d ' \n' <"$DIR/out")"

seen=$("${RUN[@]}" -stdin 2 -n 4 sh -c 'md5sum | grep -q d41d8cd98f00b204e9800998ecf8427e || echo $MUR_RANK' <"$DIR/two")
same "-stdin 2" 2 "$seen"
same "-stdin none" 0 "$("${RUN[@]}" -stdin none wc -c <"$DIR/two" | tr -d ' ')"
head -c 5000001 "$DIR/big" >"$DIR/some"
sum=$(md5sum <"$DIR/some")
same "a file to all" "3 $sum" "$("${RUN[@]}" -stdin all -n 3 md5sum <"$DIR/some" | uniq -c | sed 's/^ *//')"
same "a pipe to all" "3 $sum" "$(cat "$DIR/some" | "${RUN[@]}" -stdin all -n 3 md5sum | uniq -c | sed 's/^ *//')"
same "one that does not read on" "$sum" \
    "$("${RUN[@]}" -stdin all -n 3 sh -c '[ $MUR_RANK = 1 ] && exec md5sum; head -c 1 >/dev/null' <"$DIR/some")"
same "one that never reads" done \
    "$("${RUN[@]}" -stdin all -n 2 sh -c 'if [ $MUR_RANK = 0 ]; then echo done; fi' <"$DIR/some")"
same "nothing to all" "00" "$("${RUN[@]}" -stdin all -n 2 wc -c </dev/null | tr -d ' \n')"
run -stdin 2 -n 2 true
same "-stdin of a rank that is not there" "2 mpiexec: -stdin 2: the job has ranks 0 to 1" "$CODE $(cat "$DIR/err")"

# On a terminal: typed lines and the end of file arrive; Ctrl-C does; the background takes no input and is not stopped.
TERMINAL=$HELPERS/terminal
printf 'typed\n\004' | timeout 20 "$TERMINAL" 'name? ' "${RUN[@]}" -n 2 sh -c \
    'if [ $MUR_RANK = 0 ]; then printf "name? "; cat; echo end; fi' >"$DIR/out"
code=$?
[ $code != 77 ] || { echo "no terminals here"; exit 77; }
same "exit code on a terminal" 0 $code
contains "typed" "typed" "$(sed 1d "$DIR/out")"
contains "typed" "end" "$(cat "$DIR/out")"
printf 'typed\n\004' | timeout 20 "$TERMINAL" 'name? ' "${RUN[@]}" -stdin all -n 2 sh -c \
    '[ $MUR_RANK = 0 ] && printf "name? "; cat; echo end' >"$DIR/out"
same "exit code on a terminal for all" 0 $?
same "typed to all" 2 "$(sed 1d "$DIR/out" | grep -c typed)"
printf '\003' | timeout 20 "$TERMINAL" ready "${RUN[@]}" -n 2 "$PUPPET" 0/line:ready wait >"$DIR/out"
same "exit code after Ctrl-C" 130 $?
printf 'for the shell\n' | timeout 20 "$TERMINAL" ready bash -mc \
    '"$@" & read line; echo "shell: $line"; kill -USR1 $!; wait $!; echo "code $?"' sh \
    "${RUN[@]}" -n 1 "$PUPPET" block:10 line:ready await:10 >"$DIR/out"
contains "input while a job is in the background" "shell: for the shell" "$(cat "$DIR/out")"
contains "the job in the background" "code 0" "$(cat "$DIR/out")"
until_true none_left
finish
