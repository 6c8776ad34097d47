#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on 2 and 4 hosts, with 1 and 2 ranks on each: the examples and the tests of messages, collectives and one-sided operations.
. "$(dirname "$0")/lib.sh"
hosts_up 4

for count in 2 4; do
    list=$(echo "$hosts" | cut -d, -f1-$count)
    for ranks in 1 2; do
        for program in "$@"; do
            timeout 120 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" -host "$list" -ppn $ranks \
                -n $((count * ranks)) sh -c "cd '$scratch' && exec $program" >"$scratch/out" 2>&1 ||
                fail "$program on $count hosts with $ranks ranks each: code $?: $(tail -5 "$scratch/out")"
        done
    done
done
nothing_left "jobs on hosts"
