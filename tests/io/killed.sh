#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job is killed while it writes: nothing is left but the file, which the next job opens and writes again.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for shared in 1 0; do
    MUR_IO_SHARED=$shared "$MPIEXEC" -n 4 "$HELPER" "$folder/matrix" 4 1000000 >"$folder.out" 2>&1 &
    job=$!
    for ((i = 0; i < 200; i++)); do
        grep -q writing "$folder.out" && break
        sleep 0.05
    done
    kill -9 $job
    wait $job 2>/dev/null
    rm -f "$folder.out"
    output=$(MUR_IO_SHARED=$shared timeout 30 "$MPIEXEC" -n 3 "$HELPER" "$folder/matrix" 4 1 2>&1)
    left=$(ls -A "$folder")
    if [ "$(grep -c '^written$' <<<"$output")" -ne 3 ] || [ "$left" != matrix ]; then
        echo "failed with MUR_IO_SHARED=$shared: $output; in the folder: $left"
        exit 1
    fi
done
