# What stands before the ranks' lines, the files their output goes to, and all exit codes.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

sorted() { LC_ALL=C sort "$1" | tr '\n' ';'; }
both='echo out; echo err >&2'
time='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}'

code 0 -n 2 -l sh -c "$both"
same "-l" "[0] out;[1] out;" "$(sorted "$DIR/out")"
same "-l on stderr" "[0] err;[1] err;" "$(sorted "$DIR/err")"
code 0 -n 2 -tag-output sh -c "$both"
same "-tag-output" "[1,0]<stdout>:out;[1,1]<stdout>:out;" "$(sorted "$DIR/out")"
same "-tag-output on stderr" "[1,0]<stderr>:err;[1,1]<stderr>:err;" "$(sorted "$DIR/err")"
code 0 -timestamp-output -l sh -c 'echo a; echo b'
same "-timestamp-output" 2 "$(grep -cE "^$time \[0\] [ab]$" "$DIR/out")"
code 0 -n 2 -prepend-pattern '<%r %h %p %g %%> ' sh -c "$both"
same "-prepend-pattern" "<0 $(hostname) 0 0 %> out;<1 $(hostname) 0 0 %> out;" "$(sorted "$DIR/out")"
code 2 -prepend-pattern '%x' true
contains "a bad pattern" "'%x' does not" "$(cat "$DIR/err")"
code 2 -outfile-pattern 'a%' true
code 0 -n 2 -merge-stderr-to-stdout sh -c "$both"
same "merged" "err;err;out;out;" "$(sorted "$DIR/out")"
same "nothing on stderr" "" "$(cat "$DIR/err")"

cd "$DIR" || exit 1
code 0 -n 3 -outfile-pattern 'o.%r' -errfile-pattern 'e.%r.%h' sh -c 'echo out $MUR_RANK; echo err $MUR_RANK >&2'
same "nothing shown" "" "$(cat "$DIR/out" "$DIR/err")"
same "files" "out 0;out 1;out 2;err 0;err 1;err 2;" "$(cat o.0 o.1 o.2 e.[012]."$(hostname)" | tr '\n' ';')"
code 0 -n 3 -outfile-pattern all -errfile-pattern all -l sh -c "$both"
same "one file for all" "[0] err;[0] out;[1] err;[1] out;[2] err;[2] out;" "$(sorted all)"
code 0 -n 2 -outfile-pattern 'big.%r' sh -c 'head -c 3000000 /dev/zero; printf end'
same "much without a newline" "3000003 3000003" "$(cat big.0 | wc -c) $(cat big.1 | wc -c)"
code 0 -output-filename copies -n 11 sh -c "$both"
same "shown as well" 11 "$(grep -c out "$DIR/out")"
same "copies" "22 err err out out" \
    "$(find copies -type f | wc -l) $(cat copies/1/rank.0[02]/stderr copies/1/rank.1[0]/stdout copies/1/rank.05/stdout | xargs)"
rm -r copies
code 0 -output-filename copies/deep:nocopy -l sh -c "$both"
same "not shown" "" "$(cat "$DIR/out" "$DIR/err")"
same "copies alone" "[0] out [0] err" "$(cat copies/deep/1/rank.0/stdout copies/deep/1/rank.0/stderr | xargs)"
code 0 -n 2 --output tag,file=f,merge sh -c 'echo out'
same "-output" "[1,0]<stdout>:out;[1,1]<stdout>:out;" "$(sorted <(cat f.0 f.1))"
code 1 -outfile-pattern "$DIR/absent/%r" sleep 60
contains "no such directory" "cannot write '$DIR/absent/0': No such file" "$(cat "$DIR/err")"
code 1 -output-filename "$DIR/o.0" sleep 60
contains "a file where a directory must be" "cannot write '$DIR/o.0/1/rank.0/stdout': Not a directory" "$(cat "$DIR/err")"
if [ -w /dev/full ]; then
    code 1 -outfile-pattern /dev/full sh -c 'echo x; sleep 60'
    contains "a full disk" "cannot write '/dev/full': No space" "$(cat "$DIR/err")"
fi
(
    ulimit -n 96
    code 0 -n 8 -outfile-pattern 'o.%r' -errfile-pattern 'e.%r' true
    ulimit -n 95
    code 1 -n 8 -outfile-pattern 'o.%r' -errfile-pattern 'e.%r' true
    contains "descriptors of files" "8 ranks need 96 open files here" "$(cat "$DIR/err")"
    exit $FAILED
) || FAILED=1

code 7 -n 5 -continue-on-failure -exitcodes sh -c '[ $MUR_RANK != 3 ] || exit 7'
same "exit codes" "mpiexec: rank 3 exited with code 7;mpiexec: ranks 0-2,4 exited with code 0;" "$(sorted "$DIR/err")"
code 137 -n 2 -print-all-exitcodes sh -c '[ $MUR_RANK = 1 ] && kill -9 $$; sleep 60'
contains "a killed rank" "rank 1 ended by signal 9 (SIGKILL)" "$(cat "$DIR/err")"
contains "the other one" "rank 0 ended by signal 15 (SIGTERM)" "$(cat "$DIR/err")"
code 0 -n 2 -exitcodes true
same "all well" "mpiexec: ranks 0-1 exited with code 0" "$(cat "$DIR/err")"

# Files of options, the environment that is passed on, the search for programs.
mkdir "$DIR/bin"
printf '#!/bin/sh\necho mine "$@"\n' >"$DIR/bin/true"
chmod +x "$DIR/bin/true"
cat >config <<'END'
# two parts
-n 2 -env A "x y" sh -c 'echo "$A $MUR_APPNUM"'

-n 1 -path bin \
    true a\ b 'c d'
END
code 0 -configfile config
same "-configfile" "mine a b c d;x y 0;x y 0;" "$(sorted "$DIR/out")"
code 0 -l -configfile=config
same "-configfile with -l" "[0] x y 0;[1] x y 0;[2] mine a b c d;" "$(sorted "$DIR/out")"
code 2 -configfile config true
contains "something behind it" "must come last, but 'true' follows" "$(cat "$DIR/err")"
code 2 -configfile absent
contains "no such file" "cannot read 'absent'" "$(cat "$DIR/err")"
code 2 -configfile /dev/null
printf -- '-n 1 "true\n' >config
code 2 -configfile config
contains "an open quote" "a quote that is not closed in the line '-n 1" "$(cat "$DIR/err")"
printf -- '-configfile config\n' >config
code 2 -configfile config
contains "a file in itself" "cannot name another" "$(cat "$DIR/err")"
code 127 -path bin no-such-program
contains "-path in vain" "in PATH or -path bin" "$(cat "$DIR/err")"

show='echo "$A/$B/$C/$AB"'
A=1 B=2 AB=3 run -genvnone -env C 4 sh -c "$show" : sh -c "$show" : -envall sh -c "$show" : -x A sh -c "$show"
same "-genvnone" "///;//4/;1///;1/2//3;" "$(sorted "$DIR/out")"
A=1 B=2 AB=3 run -genvlist B,C -l sh -c "$show" : -envnone sh -c "$show" : -envlist 'A*' sh -c "$show"
same "-genvlist" "[0] /2//;[1] ///;[2] 1///3;" "$(sorted "$DIR/out")"
A=1 HYDRA_ENV=none run sh -c "$show"
same "HYDRA_ENV" "///;" "$(sorted "$DIR/out")"
code 0 -genvnone sh -c 'echo $MUR_SIZE $OMPI_COMM_WORLD_SIZE'
same "our own with -genvnone" "1 1;" "$(sorted "$DIR/out")"

code 0 -mca btl_tcp_if_include eth7 -mca pml ob1 --mca btl '^tcp' -tune /x --allow-run-as-root \
    sh -c 'echo $MUR_TCP_INCLUDE'
same "-mca" "eth7" "$(cat "$DIR/out")"
same "one note" "mpiexec: note: ignored, for nothing here needs it: -mca pml ob1, --mca btl ^tcp, -tune /x" \
    "$(cat "$DIR/err")"
OMPI_MCA_btl_tcp_if_exclude=lo,docker0 run sh -c 'echo $MUR_TCP_EXCLUDE'
same "an -mca setting in the environment" "lo,docker0" "$(cat "$DIR/out")"
code 2 -mca btl
contains "-mca without a value" "-mca btl wants a value" "$(cat "$DIR/err")"
finish
