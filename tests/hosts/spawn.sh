#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Spawning on several hosts: on those of the job, on others by info keys, and on hosts that are not there.
. "$(dirname "$0")/lib.sh"
hosts_up 3
cd "$scratch" || exit 1
printf 'h3\nh2 slots=2\n' >list

spawns() { # mpiexec's options --, then the program's arguments
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" "${options[@]}" \
        "$bin/hosts-spawn" "$@" >out 2>&1 || fail "spawn $*: code $?: $(tail -5 out)"
}

spawns -host h1,h2 -- 2 h1,h2
spawns -host h1:2,h2 -n 3 -- 5 h1,h1,h2,h1,h1
spawns -host h1 -- 2 h2,h3 host h2,h3
spawns -host h1 -n 1 -- 3 h3,h3,h1 host h3:2,h1
spawns -host h1,h2 -- 3 h3,h2,h2 hostfile list
spawns -host h1,h2 -- 4 h3,h2,h2,h3 hostfile list map_by node
# Slots that the job leaves free come first, also on hosts where it has no rank.
spawns -host h1:2,h2:2,h3 -n 1 -- 4 h1,h2,h2,h3
# The universe is all slots, unless -usize says otherwise.
export MUR_EXPECT_UNIVERSE=5
spawns -host h1:2,h2:2,h3 -n 1 -- 4 h1,h2,h2,h3
export MUR_EXPECT_UNIVERSE=3
spawns -host h1,h2 -n 3 -- 2 h1,h2
export MUR_EXPECT_UNIVERSE=7
spawns -host h1,h2 -usize 7 -- 2 h1,h2
unset MUR_EXPECT_UNIVERSE
spawns -host h1,h2 -- 2 fails host nobody.invalid
spawns -host h1,h2 -- 2 fails hostfile /no/such/file
spawns -host h1,h2 -- 2 fails map_by nonsense
nothing_left "spawning on hosts"
