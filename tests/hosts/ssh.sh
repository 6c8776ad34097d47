#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Agents started by the real ssh, from sshd on another host; and what is said where it refuses.
. "$(dirname "$0")/lib.sh"
hosts_up 2
prepare_ssh
cp "$scratch/user.pub" "$scratch/authorized"
for i in 1 2; do
    ip netns exec "$tag-h$i" unshare -u sh -c "hostname h$i; exec $serve_ssh$i" &
done
for i in 1 2; do
    await "sshd's start" ip netns exec "$tag-h$i" bash -c ': <>/dev/tcp/127.0.0.1/2222'
done
options="-i $scratch/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -F /dev/null"

by_ssh() {
    timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher ssh -launcher-port 2222 -launcher-args "$options" "$@" \
        >"$scratch/out" 2>&1 </dev/null
}

by_ssh -host 10.77.0.1,10.77.0.2 -agent-width 1 -n 2 hostname || fail "by ssh: $(cat "$scratch/out")"
[ "$(sort "$scratch/out" | tr '\n' ' ')" = "h1 h2 " ] || fail "by ssh: $(cat "$scratch/out")"
by_ssh -host 10.77.0.1,10.77.0.2 -n 4 "$1" || fail "$1 by ssh: $(cat "$scratch/out")"
by_ssh -host 10.77.0.1,10.77.0.2 -map-by ppr:1:hwthread hostname || fail "parts by ssh: $(cat "$scratch/out")"
[ "$(sort "$scratch/out" | uniq -c | tr -d '\n' | tr -s ' ')" = " $(nproc) h1 $(nproc) h2" ] ||
    fail "parts by ssh: $(cat "$scratch/out")"
echo >"$scratch/authorized"
by_ssh -host 10.77.0.1 hostname && fail "ssh refuses, but the code is 0"
grep -q "Permission denied" "$scratch/out" && grep -q "cannot start an agent on host 10.77.0.1: ssh ended with code 255" \
    "$scratch/out" || fail "what is said when ssh refuses: $(cat "$scratch/out")"
exit 0
