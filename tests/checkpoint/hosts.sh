#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Snapshots of jobs on several hosts, which are network namespaces, and restarts on others: hosts.sh TRAFFIC. Ranks of a
# host use shared memory, others TCP; names, addresses and ports are others after a restart.
. "$(dirname "$0")/../hosts/lib.sh"
. "$(dirname "$0")/lib.sh"
traffic=$1
save="-ckpointlib criu -ckpoint-prefix $snapshots"

"$mpiexec" -ckpoint-check >"$out" 2>&1 || skip "$(cat "$out")"
hosts_up 4
launcher=(ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh")
rounds=400

undisturbed() { # RANKS
    rm -rf "$scratch/undisturbed" "$scratch/file" "${snapshots:?}"/*
    "$mpiexec" -n "$1" "$traffic" $rounds 0 "$scratch/undisturbed" >"$scratch/expected" || fail "without snapshots"
    good=$(result "$scratch/expected")
}

is_good() { # WHAT
    [ "$(result "$out")" = "$good" ] || fail "$1: the result is not that of an undisturbed job"
    cmp "$scratch/undisturbed" "$scratch/file" || fail "$1: the file is not that of an undisturbed job"
}

# Two hosts with two ranks each, not disturbed by snapshots, and killed, with the agents, and restarted on two others.
undisturbed 4
start $save -ckpoint-interval 0.3 -host h1:2,h2:2 -n 4 "$traffic" $rounds 5000 "$scratch/file"
finish 0
is_good "two hosts"
nothing_left "two hosts"
for places in h3,h4 h2,h1 h4,h1; do
    rm -rf "$scratch/file" "${snapshots:?}"/*
    start $save -ckpoint-interval 0.4 -host h1:2,h2:2 -n 4 "$traffic" $rounds 10000 "$scratch/file"
    wait_for 1
    kill_job
    nothing_left "a killed job"
    start -restart "$snapshots" -ckpoint-interval 0.4 -host $places
    wait_for 3
    kill_job
    start -restart "$snapshots" -host h2,h3
    finish 0
    is_good "restarted on $places, and then on h2,h3"
    nothing_left "a restarted job"
done

# Three hosts with a rank each; without hosts on the command line it is those of before.
undisturbed 3
start $save -ckpoint-interval 0.4 -host h1,h2,h3 -n 3 "$traffic" $rounds 10000 "$scratch/file"
wait_for 0
kill_job
start -restart "$snapshots"
finish 0
is_good "restarted where it was"

# Two hosts become one, which runs both groups of ranks as two hosts.
undisturbed 4
start $save -ckpoint-interval 0.4 -host h1:2,h2:2 -n 4 "$traffic" $rounds 10000 "$scratch/file"
wait_for 0
kill_job
start -restart "$snapshots" -host h4
finish 0
is_good "restarted on one host"
nothing_left "a job on one host"

# By the daemons, which stay, and know hosts by their addresses.
export HOME=$scratch
unset MUR_PHRASE_FILE
smpd=$(dirname "$mpiexec")/smpd
"$smpd" -set phrase "Walzahn-$$" || fail "no phrase can be written"
for i in 1 2 3 4; do
    ip netns exec "$tag-h$i" unshare -u sh -c "hostname h$i; exec $smpd -s" || fail "the daemon on h$i does not start"
done
launcher=(ip netns exec "$tag-h0" "$mpiexec" -launcher smpd -noprompt)
undisturbed 4
start $save -ckpoint-interval 0.4 -host 10.77.0.1:2,10.77.0.2:2 -n 4 "$traffic" $rounds 10000 "$scratch/file"
wait_for 0
kill_job
start -restart "$snapshots" -host 10.77.0.3,10.77.0.4
finish 0
is_good "restarted by daemons"
exit 0
