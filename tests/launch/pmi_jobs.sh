#!/bin/bash
# What programs of other libraries ask mpiexec by PMI beyond their own job: names, spawned jobs and their failures. The
# program is a shell, so that what it says is exactly this.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

cat >"$DIR/rank" <<'END'
#!/bin/bash
ask() { # WHAT-TO-SAY WANTED-ANSWER
    printf '%b' "$1" >&"$PMI_FD"
    read -r -t 20 -u "$PMI_FD" answer
    [[ $answer == $2 ]] || { echo "asked '$1', wanted '$2', got '$answer'"; exit 3; }
}
ask 'cmd=init pmi_version=1 pmi_subversion=1\n' '*rc=0*'
if [ "$1" = child ]; then
    [ "${PMI_SPAWNED:-}" = 1 ] || { echo "no PMI_SPAWNED"; exit 3; }
    ask 'cmd=get_my_kvsname\n' '*kvsname=*'
    kvs=${answer##*=}
    ask "cmd=get kvsname=$kvs key=greeting\n" "*value=hello"
    ask "cmd=get kvsname=$kvs key=farewell\n" "*value=a=b"
    ask "cmd=lookup_name service=door\n" "*port=number-7"
    ask "cmd=publish_name service=window port=x$PMI_RANK\n" "*rc=*"
    [ "$2" != dies ] || { sleep 0.3; exit 9; }
    ask 'cmd=finalize\n' '*'
    echo "child $PMI_RANK of $PMI_SIZE: $2"
    exit 0
fi
block() { # PROGRAM ARGUMENT NUMBER TOTAL PREPUTS
    printf '%s' "mcmd=spawn\nnprocs=$6\nexecname=$1\ntotspawns=$4\nspawnssofar=$3\nargcnt=2\narg1=child\narg2=$2\n$5"
    printf '%s' "info_num=1\ninfo_key_0=wdir\ninfo_val_0=/\nendcmd\n"
}
values='preput_num=2\npreput_key_0=greeting\npreput_val_0=hello\npreput_key_1=farewell\npreput_val_1=a=b\n'
ask "cmd=publish_name service=door port=number-7\n" "*rc=0*"
ask "cmd=publish_name service=door port=number-8\n" "*rc=1*"
case $1 in
good) ask "$(block "$0" "two words" 1 2 "$values" 2)$(block "$0" "other" 2 2 "" 1)" "cmd=spawn_result*rc=0*" ;;
dies) ask "$(block "$0" dies 1 1 "$values" 1)" "cmd=spawn_result*rc=0*"; sleep 20 ;;
missing) ask "$(block /no/such x 1 1 "$values" 1)" "cmd=spawn_result*rc=1*" ;;
esac
sleep 0.5
[ "$1" != good ] || ask "cmd=lookup_name service=window\n" "*port=x?"
ask "cmd=unpublish_name service=door\n" "*rc=0*"
ask "cmd=unpublish_name service=door\n" "*rc=1*"
ask "cmd=lookup_name service=door\n" "*rc=1*"
ask "cmd=publish_name service=$(printf '%01000d' 0) port=x\n" "*rc=1*"
ask 'cmd=finalize\n' '*'
echo "parent: well"
END
chmod +x "$DIR/rank"

seen=$(timeout 60 "${RUN[@]}" -n 1 "$DIR/rank" good 2>&1 </dev/null)
same "two commands are spawned" "0 child 0 of 3: two words;child 1 of 3: two words;child 2 of 3: other;parent: well;" \
    "$? $(sort <<<"$seen" | tr '\n' ';')"
seen=$(timeout 60 "${RUN[@]}" -n 1 "$DIR/rank" missing 2>&1 </dev/null)
same "what cannot be started ends nobody" 0 $?
contains "what cannot be started" "no program '/no/such'" "$seen"
contains "what cannot be started" "parent: well" "$seen"
seen=$(timeout 60 "${RUN[@]}" -n 1 "$DIR/rank" dies 2>&1 </dev/null)
same "a spawned job that fails ends who has spawned it" 9 $?
contains "a spawned job that fails" "a job that a rank has spawned ended with code 9" "$seen"
[ -z "$(survivors)" ] || fail "processes are left: $(survivors)"
finish
