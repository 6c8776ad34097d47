#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank has no memory to take part in a collective access by messages: the job ends and says why, nobody waits.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export MUR_IO_SHARED=0
for what in nothing access steps; do
    output=$(timeout 30 "$MPIEXEC" -n 3 "$HELPER" "$folder/file" $what 2>&1)
    code=$?
    if [ $what = nothing ]; then
        [ $code = 0 ] && [ "$(grep -c '^over$' <<<"$output")" = 3 ] && continue
    else
        [ $code != 0 ] && [ $code != 124 ] && grep -q "rank 1 of 3.*no memory.*MPI_ERR_NO_MEM" <<<"$output" && continue
    fi
    echo "failed: no memory for $what: code $code, $output"
    exit 1
done
