# A rank that the kernel kills for lack of memory: the message says so. In a control group of our own with little memory,
# of version 2 or 1, where one can be made.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"
name=murmur-test-$$
group=

make_group() { # its directory, the limit's file
    mkdir "$1" 2>/dev/null || return 1
    [ -e "$1/cgroup.procs" ] || { rmdir "$1"; return 1; } # no control groups are mounted there
    if echo 64M >"$1/$2" 2>/dev/null; then group=$1; else rmdir "$1"; return 1; fi
}

own=$(sed -n 's/^0:://p' /proc/self/cgroup)
own_1=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
make_group "/sys/fs/cgroup$own/$name" memory.max ||
    make_group "/sys/fs/cgroup/memory$own_1/$name" memory.limit_in_bytes ||
    { echo "SKIPPED: no control group with a limit of memory can be made here: the hint about it is not tested" >&2; exit 77; }
trap 'rmdir "$group"; rm -rf "$DIR"' EXIT
[ ! -w "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"

in_group() { # mpiexec's arguments
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" timeout -k 5 60 "${RUN[@]}" "$@" >"$DIR/out" 2>"$DIR/err" </dev/null
    CODE=$?
}

in_group -n 2 sh -c '[ $MUR_RANK = 0 ] && exec sleep 60; exec tail /dev/zero'
same "exit code" 137 $CODE
contains "the hint" "the kernel killed for lack of memory here (OOM)" "$(cat "$DIR/err")"
in_group -n 2 sh -c '[ $MUR_RANK = 0 ] && exec sleep 60; kill -9 $$'
same "exit code" 137 $CODE
case $(cat "$DIR/err") in
*OOM*) fail "a hint where there was memory: $(cat "$DIR/err")" ;;
esac
in_group -n 1 "$PUPPET" line:fine
same "exit code" 0 $CODE
finish
