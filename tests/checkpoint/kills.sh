#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that are killed as a whole at random moments, also while a snapshot is taken, and restarted in chains, now and
# then on other hosts: kills.sh TRAFFIC [KILLS]. However often that happens, the result is that of an undisturbed job, and
# nothing is left. MUR_TEST_SEED repeats a run as far as the machine's own timing allows.
. "$(dirname "$0")/../hosts/lib.sh"
. "$(dirname "$0")/lib.sh"
traffic=$1
kills=${2:-12}
echo "seed $seed"

"$mpiexec" -ckpoint-check >"$out" 2>&1 || skip "$(cat "$out")"
hosts_up 4
launcher=(ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh")
interval=0.2
rounds=500

# Ranks by host, where it runs, and whether shared memory may be used.
shapes=("1 h1:1" "4 h1:4" "3 h1,h2,h3" "4 h1:2,h2:2" "5 h1:2,h2:1,h3:2" "2 h1,h2" "8 h1:4,h2:4")

hosts_of() { # WORD: as many other hosts, in any order
    shuf -e h1 h2 h3 h4 -n "$(tr -cd , <<<"$1" | wc -c | awk '{print $1 + 1}')" \
        --random-source=<(yes $RANDOM) | paste -sd,
}

begin() {
    set -- ${shapes[RANDOM % ${#shapes[@]}]}
    ranks=$1 places=$2 transport=
    [ $((RANDOM % 3)) -ne 0 ] || transport="-genv MUR_TRANSPORT tcp"
    rm -rf "$scratch"/file "$scratch"/undisturbed "${snapshots:?}"/*
    "$mpiexec" -n $ranks "$traffic" $rounds 0 "$scratch/undisturbed" >"$scratch/expected" || fail "without snapshots"
    words="-ckpointlib criu -ckpoint-prefix $snapshots $transport -host $places -n $ranks $traffic $rounds 4000 $scratch/file"
}

go_on() {
    [ -n "$(ls "$snapshots"/*/manifest 2>/dev/null)" ] || return 0 # from its beginning, once more
    words="-restart $snapshots"
    [ $((RANDOM % 2)) = 0 ] || words="$words -host $(hosts_of "$places")"
}

begin
while [ $kills -gt 0 ]; do
    echo "kills to come: $kills, mpiexec $words, snapshots $(ls "$snapshots" | paste -sd' ')"
    start -ckpoint-interval $interval $words
    sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
    if kill -0 $job 2>/dev/null; then
        kill_job
        nothing_left "a killed job"
        kills=$((kills - 1))
        go_on
        continue
    fi
    finish 0
    [ "$(result "$out")" = "$(result "$scratch/expected")" ] || fail "the result of $words"
    cmp "$scratch/undisturbed" "$scratch/file" || fail "the file of $words"
    begin
done
start $words
finish 0
[ "$(result "$out")" = "$(result "$scratch/expected")" ] || fail "the result of $words"
cmp "$scratch/undisturbed" "$scratch/file" || fail "the file of $words"
nothing_left "the last job"
exit 0
