# SPDX-License-Identifier: BSD-3-Clause
# For tests of checkpoints: $mpiexec and $steps are the programs, $scratch is a directory that goes with the test.
set -u
mpiexec=$1
steps=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# WHAT CODE ARGS...: mpiexec ends with this code; its output is in out and err.
ends() {
    local what=$1 code=$2 seen
    shift 2
    timeout 200 "$mpiexec" "$@" >out 2>err </dev/null
    seen=$?
    [ $seen = "$code" ] || fail "$what: code $seen instead of $code: $(cat out err)"
}

# WHAT FROM: the last job started from there, and came to the same result as one that nothing disturbed.
is_right() {
    grep -qx "from $2" out || fail "$1: expected to start from $2: $(cat out err)"
    [ "$(grep sum out)" = "$(grep sum undisturbed)" ] || fail "$1: $(cat out) instead of $(cat undisturbed)"
}

# DIRECTORY...: the whole snapshots there. A killed job may have begun one more, or not have removed the oldest yet.
whole() { ls "$@" | grep 'app-[0-9]*$' | sort -V | tr '\n' ' '; }
