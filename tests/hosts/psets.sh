#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Process sets of a job on two hosts, whose parts lie on either or on both.
. "$(dirname "$0")/lib.sh"
hosts_up 2
psets=$1
for list in h1:3,h2:2 h2:1,h1:4; do
    timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" -host "$list" \
        -n 2 -pset app://ocean -pset both "$psets" : -n 1 "$psets" : -n 2 -pset land -pset both "$psets" \
        >"$scratch/out" 2>&1 || fail "sets on $list: code $?: $(tail -5 "$scratch/out")"
done
nothing_left "process sets on hosts"
