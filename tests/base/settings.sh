#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Settings from the environment: values, units, names of before, and what is said of those that are no good.
set -u
mpiexec=$1 program=$2
fail() { echo "FAILED: $*" >&2; exit 1; }
# VARIABLE=VALUE SETTING EXPECTED [TEXT]: the setting in force, and what is said (nothing if there is no text).
is() {
    local out
    out=$(env "$1" MUR_INFO=1 "$mpiexec" -n 2 "$program" 2>&1 >/dev/null) || fail "$1: $out"
    grep -Eq "$2 *=? *$3( |$)" <<<"$out" || fail "$1: expected $2 $3: $(grep "$2" <<<"$out")"
    out=$(env "$1" "$mpiexec" -n 2 "$program" 2>&1 >/dev/null)
    [ "$out" = "${4:+Murmur: $4}" ] || fail "$1: expected '${4:-}', saw '$out'"
}
is MUR_RMA_ASSIST_MAX=17 MUR_RMA_ASSIST_MAX 17
is MUR_RMA_ASSIST_MAX=8k MUR_RMA_ASSIST_MAX 8192
is MUR_RMA_ERRAND_MAX=17 MUR_RMA_ASSIST_MAX 17 \
    "MUR_RMA_ERRAND_MAX is called MUR_RMA_ASSIST_MAX now; the old name is valid until the next release"
is MUR_RMA_ASSIST_MAX=many MUR_RMA_ASSIST_MAX 8192 \
    "MUR_RMA_ASSIST_MAX is 'many', but must be a number (bytes) from 0 to 16384; 8192 is used instead"
is MUR_TCP_SEAL=encrypt MUR_TCP_SEAL 2
exit 0
