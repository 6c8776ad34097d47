#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a spawned job says goes through mpiexec like what ranks say: a line of it begins a line.
#   outputs.sh MPIEXEC PROGRAM
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for stream in out err; do
    timeout 50 "$1" -l -n 1 "$2" $stream "$dir/$stream" >"$dir/out" 2>"$dir/err" </dev/null
    code=$?
    [[ $code = 0 && $(cat "$dir/$stream") = $'[0] part\n[0] child\'s' ]] ||
        { echo "FAILED: $stream: code $code: $(cat "$dir/out" "$dir/err")"; exit 1; }
done
