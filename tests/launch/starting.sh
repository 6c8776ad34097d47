# How ranks are started when options ask for an unusual way: terminal, priority, windows, GPUs, what they are told, and
# the commands that start nothing.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

lines() { LC_ALL=C sort "$DIR/out" | tr '\n' ';'; }

# ---- -localonly, -path, -exitcodes ----
code 0 -host nowhere:9 -localonly 3 echo hi
same "-localonly 3" "hi;hi;hi;" "$(lines)"
code 2 -localonly 3 -n 2 true
mkdir "$DIR/a" "$DIR/b"
printf '#!/bin/sh\necho found\n' >"$DIR/b/only-in-b"
chmod +x "$DIR/b/only-in-b"
code 0 -path "$DIR/a;$DIR/b" only-in-b
same "-path with ';'" "found;" "$(lines)"
: >"$DIR/early"
"${RUN[@]}" -l -exitcodes -n 2 sh -c '[ $MUR_RANK = 0 ] || { while [ ! -e '"$DIR"'/go ]; do sleep 0.05; done; }' \
    >"$DIR/out" 2>"$DIR/early" &
job=$!
until_true grep -q "rank 0 exited with code 0" "$DIR/early"
grep -q "rank 1" "$DIR/early" && fail "-exitcodes -l tells of a rank that runs"
touch "$DIR/go"
wait $job
same "-exitcodes -l" "mpiexec: rank 0 exited with code 0;mpiexec: rank 1 exited with code 0;" "$(tr '\n' ';' <"$DIR/early")"

# ---- -nompi ----
code 1 -continue-on-failure -nompi -n 2 sh -c 'env | grep -cE "^(MUR_(RANK|SIZE|JOB|CONTROL)|PMI|OMPI|MPI_LOCAL)"; ls -l /proc/self/fd | grep -c socket:'
same "-nompi" "0;0;0;0;" "$(lines)"
code 0 -n 1 sh -c 'env | grep -cE "^(MUR_(RANK|SIZE|JOB|CONTROL)|PMI|OMPI|MPI_LOCAL)"'
[ "$(cat "$DIR/out")" -gt 8 ] || fail "the test of -nompi looks for names that are not there"

# ---- -pmi-port: what a program of another library does with it ----
cat >"$DIR/rank" <<'END'
#!/bin/bash
[ -z "${PMI_FD:-}" ] && [ "${PMI_PORT%%:*}" = 127.0.0.1 ] || { echo "PMI_FD=$PMI_FD PMI_PORT=$PMI_PORT"; exit 3; }
exec {bad}<>"/dev/tcp/127.0.0.1/${PMI_PORT##*:}"
printf 'cmd=initack pmiid=99\n' >&$bad
read -r -t 20 -u $bad answer && { echo "rank 99 is served: $answer"; exit 3; }
exec {pmi}<>"/dev/tcp/127.0.0.1/${PMI_PORT##*:}"
printf 'cmd=initack pmiid=%s\n' "$PMI_ID" >&$pmi
read -r -t 20 -u $pmi answer && read -r -t 20 -u $pmi size && read -r -t 20 -u $pmi rank && read -r -t 20 -u $pmi debug
printf 'cmd=init pmi_version=1 pmi_subversion=1\n' >&$pmi
read -r -t 20 -u $pmi answer
printf 'cmd=barrier_in\n' >&$pmi
read -r -t 20 -u $pmi barrier
printf 'cmd=finalize\n' >&$pmi
read -r -t 20 -u $pmi end
echo "$size $rank $barrier"
END
chmod +x "$DIR/rank"
code 0 -pmi-port -n 3 "$DIR/rank"
same "-pmi-port" "cmd=set size=3 cmd=set rank=0 cmd=barrier_out;cmd=set size=3 cmd=set rank=1 cmd=barrier_out;cmd=set \
size=3 cmd=set rank=2 cmd=barrier_out;" "$(lines | sed 's/ rc=0//g; s/ tag=0//g')"

# ---- -priority ----
mine=$(nice)
at_most() { echo $(($1 > 19 ? 19 : $1)); } # the kernel stops there
nice_of() { code 0 -priority "$1" nice; cat "$DIR/out"; }
same "below" $(at_most $((mine + 10))) "$(nice_of below)"
same "normal" "$mine" "$(nice_of normal)"
same "normal:lowest" $(at_most $((mine + 4))) "$(nice_of normal:lowest)"
same "1:2" $(at_most $((mine + 12))) "$(nice_of 1:2)"
code 0 -priority idle cat /proc/self/stat
same "idle's policy (SCHED_IDLE)" 5 "$(awk '{print $41}' "$DIR/out")"
if [ "$(id -u)" = 0 ]; then
    same "high" $((mine - 10)) "$(nice_of high)"
    unprivileged() { setpriv --reuid 65534 --clear-groups "$MPIEXEC" -priority high true; }
    if command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups test -x "$MPIEXEC"; then
        unprivileged >"$DIR/out" 2>&1 && fail "-priority high without a permission"
        contains "-priority high without a permission" "could not set its priority" "$(cat "$DIR/out")"
    fi
fi
code 2 -priority quick true
contains "-priority quick" "not 'quick'" "$(cat "$DIR/err")"

# ---- -binding, -cpu-list, -cpu-set ----
show='sed -n s/^Cpus_allowed_list:[[:space:]]*//p /proc/self/status'
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
all=$($show)
code 0 -cpu-list "$first" -n 2 $show
same "-cpu-list" "$first;$first;" "$(lines)"
code 0 -cpu-set "$first" -n 2 $show
same "-cpu-set" "$first;$first;" "$(lines)"
code 0 -binding "user:$first" $show
same "-binding user:" "$first;" "$(lines)"
code 2 -binding user true
code 0 -binding auto -n 300 $show
same "-binding auto with too many ranks" "$all" "$(sort -u "$DIR/out")"
grep -q "note:.*share" "$DIR/err" && fail "-binding auto binds more ranks than there are cores"
code 0 -binding auto -report-bindings -n 1 true
contains "-binding auto" "rank 0 on" "$(cat "$DIR/err")"
contains "-binding auto binds" "is bound to" "$(cat "$DIR/err")"
code 1 -cpu-set 1023 true

# ---- -rankfile on this machine ----
printf '# places\nrank 1=localhost slot=0\nrank 0=+n0 slots=0:*\n' >"$DIR/ranks"
code 0 -rankfile "$DIR/ranks" -report-bindings sh -c 'echo $MUR_RANK/$MUR_SIZE'
same "the ranks of a -rankfile" "0/2;1/2;" "$(lines)"
contains "a -rankfile binds" "rank 1 on localhost is bound to CPU" "$(cat "$DIR/err")"
code 2 -rankfile "$DIR/ranks" -n 3 true
contains "too many ranks for a -rankfile" "places for 2 ranks" "$(cat "$DIR/err")"
echo 'rank 0=localhost slot=999' >"$DIR/ranks"
code 1 -rankfile "$DIR/ranks" true
contains "a core that is not there" "slot=999" "$(cat "$DIR/err")"
echo 'rank 1=localhost' >"$DIR/ranks"
code 2 -rankfile "$DIR/ranks" true
contains "a rank without a place" "gives rank 0 no place" "$(cat "$DIR/err")"
echo 'rang 0=localhost' >"$DIR/ranks"
code 2 -rankfile "$DIR/ranks" true
code 2 -rankmap 0,x true
code 2 -rankmap 1 true

# ---- -output-from, -xterm ----
code 0 -output-from 1,3- -n 5 sh -c 'echo $MUR_RANK; echo e$MUR_RANK >&2'
same "-output-from" "1;3;4;" "$(lines)"
same "stderr beside -output-from" "e0;e1;e2;e3;e4;" "$(sort "$DIR/err" | tr '\n' ';')"
code 2 -output-from 3-1 true
printf '#!/bin/sh\necho "window $2"\nshift 3\nexec "$@"\n' >"$DIR/xterm"
chmod +x "$DIR/xterm"
PATH=$DIR:$PATH code 0 -xterm 1 -n 2 sh -c 'echo $MUR_RANK of $MUR_SIZE'
same "-xterm" "0 of 2;1 of 2;window rank 1;" "$(lines)"

# ---- -gpus-per-proc ----
(unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES; ZE_AFFINITY_MASK=7,5,3 code 0 -gpus-per-proc 2 -n 3 \
    sh -c 'echo $CUDA_VISIBLE_DEVICES$ROCR_VISIBLE_DEVICES $ZE_AFFINITY_MASK'
same "-gpus-per-proc" "0,1 7,5;2,3 3,7;4,5 5,3;" "$(lines)"; exit $FAILED) || FAILED=1
code 0 -nompi -g 1 -n 2 sh -c 'echo $ZE_AFFINITY_MASK'
same "-g" "0;1;" "$(lines)"

# ---- signals ----
script='trap "echo got $MUR_RANK" WINCH USR1; echo up; while [ ! -e '"$DIR"'/stop ]; do sleep 0.05; done'
rm -f "$DIR/stop"
: >"$DIR/out" # or what the job before has said would be taken for this one's
"${RUN[@]}" -report-pid "$DIR/pid" -forward-signals SIGWINCH -n 2 sh -c "$script" >"$DIR/out" 2>"$DIR/err" &
job=$!
until_true has_lines "$DIR/out" 2
same "-report-pid" "$job" "$(cat "$DIR/pid")"
kill -WINCH $job
until_true has_lines "$DIR/out" 4
touch "$DIR/stop"
wait $job || fail "-forward-signals: code $?"
same "-forward-signals" "got 0;got 1;up;up;" "$(lines)"
code 2 -forward-signals KILL true
code 0 -report-pid - true
[ "$(cat "$DIR/out")" -gt 0 ] || fail "-report-pid -"

# ---- -localroot ----
echo from the terminal >"$DIR/in"
timeout 60 "${RUN[@]}" -localroot -n 2 sh -c '[ $MUR_RANK != 0 ] || cat; ps -o pgid= -p $$ | tr -d " "' \
    <"$DIR/in" >"$DIR/out" 2>"$DIR/err" || fail "-localroot: code $?"
contains "-localroot reads" "from the terminal" "$(cat "$DIR/out")"
: >"$DIR/out"
"${RUN[@]}" -localroot -n 2 sh -c 'echo $MUR_RANK $(ps -o pgid= -p $$); while [ ! -e '"$DIR"'/stop2 ]; do sleep 0.05; done' \
    >"$DIR/out" 2>&1 &
job=$!
until_true has_lines "$DIR/out" 2
group=$(($(ps -o pgid= -p $job)))
same "rank 0's process group" "$group" "$(sed -n 's/^0 //p' "$DIR/out")"
[ "$(sed -n 's/^1 //p' "$DIR/out")" != "$group" ] || fail "rank 1 is in mpiexec's group"
kill -TERM $job
wait $job
same "the end of a job with -localroot" $((128 + 15)) $?
until_true none_left
code 2 -localroot -host nowhere true

# ---- commands and trials ----
code 0 -whomai
same "-whomai" "$(id -un);" "$(lines)"
code 0 -whoami
same "-whoami" "$(id -un);" "$(lines)"
code 0 -info
contains "-info" "Launchers:" "$(cat "$DIR/out")"
code 0 -help2
contains "-help2" ", -whomai" "$(cat "$DIR/out")"
grep '^  -' "$DIR/out" | grep -oE '(^  |, )-[^ ,]+' >"$DIR/names"
[ "$(wc -l <"$DIR/names")" -gt 120 ] || fail "-help2 lists $(wc -l <"$DIR/names") options"
code 0 -register
contains "-register" "nothing to register" "$(cat "$DIR/err")"
code 0 -do-not-launch -display-map -host a,b -n 2 touch "$DIR/launched"
contains "-do-not-launch" "b runs rank 1" "$(cat "$DIR/err")"
[ ! -e "$DIR/launched" ] || fail "-do-not-launch launches"
code 127 -do-not-launch no-such-program
code 0 -validate
contains "-validate here" "SUCCESS" "$(cat "$DIR/out")"
code 0 -map 'z:\\server\share' -mapall -nopopup_debug -delegate -impersonate true
same "one note" 1 "$(wc -l <"$DIR/err")"
contains "the note" "-nopopup_debug" "$(cat "$DIR/err")"
finish
