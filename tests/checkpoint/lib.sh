# SPDX-License-Identifier: BSD-3-Clause
# For tests of snapshots: source it. Exits with 77, which is 'skipped', where no snapshot can be taken.
#   $snapshots      the folder of the snapshots, empty at first
#   start ARGS...   mpiexec in the background; $job is its process, $out what it prints
#   wait_for N      until snapshot N is there
#   kill_job        all of it, as a machine that loses its power; nothing may be left
#   finish CODE     waits for the job's end with this code
set -u
mpiexec=${MPIEXEC:?}
launcher=("$mpiexec") # the words of start
scratch=${scratch:-$(mktemp -d)} # jobs across hosts have one already (hosts/lib.sh)
snapshots=$scratch/snapshots
out=$scratch/out
job=
mkdir "$snapshots"

skip() {
    echo "SKIPPED: $*: snapshots are not tested here" >&2
    exit 77
}

fail() {
    echo "FAILED: $*" >&2
    [ -e "$out" ] && tail -20 "$out" >&2
    exit 1
}

clean() {
    [ -z "$job" ] || kill -9 "$job" 2>/dev/null
    ! mountpoint -q "$scratch/small" || umount "$scratch/small"
    if declare -F hosts_down >/dev/null; then hosts_down; fi
    rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 1' INT TERM

# A seed may be given, and is told: what is drawn can be drawn again.
seed=${MUR_TEST_SEED:-1}
RANDOM=$seed

[ "$(id -u)" = 0 ] || skip "not root"
[ -x "$BUILD/criu/criu" ] || [ -n "${MUR_CRIU:-}" ] || skip "no CRIU (tools/criu gets one)"
export MUR_CRIU=${MUR_CRIU:-$BUILD/criu/criu}

start() {
    "${launcher[@]}" "$@" >"$out" 2>&1 &
    job=$!
}

# Polls until the command succeeds; 60 s are for machines that have much to do.
until_true() {
    for _ in $(seq 600); do
        "$@" && return 0
        [ -z "$job" ] || kill -0 "$job" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

wait_for() {
    until_true test -e "$snapshots/$1/manifest" || fail "snapshot $1 was not taken"
}

finish() {
    local code=0
    wait "$job" || code=$?
    job=
    [ "$code" = "$1" ] || fail "mpiexec ended with code $code, not $1"
}

descendants() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        descendants "$child"
    done
}

kill_job() {
    local all
    all=$(descendants "$job")
    kill -9 "$job"
    wait "$job" 2>/dev/null
    job=
    for pid in $all; do
        until_true has_ended "$pid" || fail "process $pid of a killed job is left: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done
}

has_ended() {
    ! [ -e "/proc/$1" ] || [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null)" = Z ]
}

says() {
    grep -q -- "$1" "$out" || fail "mpiexec does not say '$1'"
}

result() {
    grep '^digest' "$1"
}
