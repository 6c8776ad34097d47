#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `mpijob controller` against an API: of two one acts, the other takes over when that is killed; what it may not do is said.
. "$(dirname "$0")/serve.sh"
need_namespaces
printf 'controller-token,c,1,"mpijob:controllers"\nviewer-token,v,2,"view"\n' >tokens
start_serve --no-controller --token-file tokens
for who in controller viewer; do
    sed "s/token: .*/token: $who-token/" "$KUBECONFIG" >$who.config
done

control() { # NAME
    "$mpijob" controller --kubeconfig controller.config --identity "$1" --restart-delay 0.2 --lease-namespace default \
        >"$1.log" 2>&1 &
}
control first
first=$!
until_true grep -q 'acts as controller first' first.log
control second
second=$!
until_true grep -q 'waits: the controller first acts' second.log

# Its pods have ssh as on a cluster: no command that enters pods is in their environment.
write_job plain <<<'env | grep -c rsh_agent; exec sleep 1000'
python3 "$1/client.py" create plain.yaml || fail "create"
until_true python3 "$1/client.py" has plain Running
until_true test -n "$("$mpijob" logs plain-launcher)"
[ "$("$mpijob" logs plain-launcher)" = 0 ] || fail "an agent is in the environment: $("$mpijob" logs plain-launcher)"
write_job old v1 <<<'true'
python3 "$1/client.py" create old.yaml || fail "create v1"
refused() { "$mpijob" describe old | grep -q 'Unsupported.*v1'; }
until_true refused

kill -9 $first
write_job after <<<'echo done'
python3 "$1/client.py" create after.yaml || fail "create after"
until_true grep -q 'acts as controller second' second.log
until_true python3 "$1/client.py" has after Succeeded
kill $second
wait $second || fail "the controller ended with $?: $(cat second.log)"
control third # at once, since the second has given the Lease back
third=$!
until_true grep -q 'acts as controller third' third.log
"$mpijob" suspend plain || fail "suspend"
until_true python3 "$1/client.py" has plain Suspended
kill $third
wait $third || fail "the controller ended with $?: $(cat third.log)"

# Without the permission: which verb, which resource, what to add.
"$mpijob" controller --kubeconfig viewer.config >refused.log 2>&1 &
viewer=$!
until_true grep -q 'cannot update resource "leases"' refused.log
until_true grep -qF '{apiGroups: ["coordination.k8s.io"], resources: [leases], verbs: [update]}' refused.log
kill $viewer
wait $viewer
! "$mpijob" delete --kubeconfig viewer.config plain >refused.log 2>&1 || fail "a viewer deletes a job"
grep -qF 'resources: [mpijobs], verbs: [delete]' refused.log || fail "delete: $(cat refused.log)"
end_serve
no_pods_left || fail "processes of pods are left"
echo "controllers act one at a time"
