#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The host of another job goes away while a rank waits for a message from there: the receive fails.
. "$(dirname "$0")/lib.sh"
hosts_up 2
export MUR_TCP_TIMEOUT=2

ip netns exec "$tag-h1" timeout 60 "$mpiexec" -n 1 "$bin/hosts-apart" server "$scratch/port" >"$scratch/server" 2>&1 &
ip netns exec "$tag-h2" timeout 60 "$mpiexec" -n 1 "$bin/hosts-apart" client "$scratch/port" >"$scratch/client" 2>&1 &
client=$!
await "a meeting of the jobs" [ -e "$scratch/port.ready" ]
ip -n "$tag-h1" link set eth0 down
wait $client
code=$?
[ $code != 0 ] && [ $code != 124 ] && grep -q "rank 0 of another job.* is lost" "$scratch/client" ||
    fail "a lost host of another job: code $code: $(cat "$scratch/client")"
exit 0
