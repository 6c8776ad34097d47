#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# kubectl against `mpijob serve`: the users' job from apply to delete. KUBECTL names another kubectl than that in PATH.
. "$(dirname "$0")/serve.sh"
need_namespaces
kubectl=${KUBECTL:-kubectl}
command -v "$kubectl" >/dev/null || skip "no kubectl: Debian has it in the package kubernetes-client"
start_serve
k() { timeout 60 "$kubectl" "$@"; }

k version >out 2>&1 || fail "version: $(cat out)"
k api-resources >out || fail "api-resources: $(cat out)"
grep -q '^mpijobs *mj,mpij .*kubeflow.org' out || fail "api-resources: $(cat out)"

# The users' job.
k apply -f "$1/training.yaml" >out 2>err && grep -q 'mpijob.kubeflow.org/training created' out || fail "apply: $(cat out err)"
k wait --for=condition=Succeeded --timeout=50s mpijob/training >out 2>err || fail "wait: $(cat out err serve.log)"
k apply -f "$1/training.yaml" >out 2>err && grep -q unchanged out || fail "the same again: $(cat out err)"
k get mpijobs,pods -o wide >out || fail "get"
grep -q '^mpijob.kubeflow.org/training *Succeeded' out && grep -q '^pod/training-launcher *0/1 *Completed' out || fail "get: $(cat out)"
k logs training-launcher >out && grep -q '^total images/sec: [0-9]' out || fail "logs: $(cat out)"
k logs --tail=1 training-launcher >last && [ "$(wc -l <last)" = 1 ] && tail -n 1 out | cmp -s - last || fail "logs --tail=1: $(cat last)"
k describe mpijob training >out || fail "describe"
grep -q 'MPIJobSucceeded' out && grep -q 'mpijob-controller' out || fail "describe: $(cat out)"
k get events >out && grep -q 'mpijob/training' out || fail "events: $(cat out)"
k delete -f "$1/training.yaml" >out 2>err || fail "delete: $(cat out err)"
no_job_pods() { [ -z "$(k get pods -l "training.kubeflow.org/job-name=$1" -o name)" ]; }
until_true no_job_pods training
[ -z "$(k get configmaps,secrets,services -o name)" ] || fail "left: $(k get configmaps,secrets,services -o name)"

# A job that waits for a file: its log as it grows, a command in it, suspension, a worker killed.
spec='runPolicy: {backoffLimit: 3}' write_job calm <<END
echo first; mpirun -np 2 hostname
until [ -e $scratch/go ]; do sleep 0.1; done
echo last; cat $scratch/go
END
k apply -f calm.yaml >out 2>err || fail "apply calm: $(cat out err)"
until_true k exec calm-launcher -- true
k logs -f calm-launcher >followed &
follower=$!
until_true grep -q calm-worker-1 followed
k exec calm-worker-0 -- sh -c 'hostname; echo wrong >&2; exit 7' >out 2>err
code=$?
[ $code = 7 ] && [ "$(cat out)" = calm-worker-0 ] && grep -q wrong err || fail "exec: code $code: $(cat out err)"
head -c 300000 /dev/zero | k exec -i calm-worker-0 -- wc -c >out || fail "exec -i"
[ "$(cat out)" = 300000 ] || fail "exec -i: $(cat out)"
k exec calm-worker-0 -- head -c 300000 /dev/zero | wc -c >out
[ "$(cat out)" = 300000 ] || fail "exec, much output: $(cat out)"
if command -v script >/dev/null; then
    script -qec "$kubectl exec -it calm-worker-0 -- sh -c 'test -t 0 && echo is a terminal; sleep 1; exit 5'" /dev/null <<<"" >out 2>&1
    code=$?
    [ $code = 5 ] && grep -q 'is a terminal' out || fail "exec -it: code $code: $(cat out)"
fi
k exec calm-worker-0 -c another -- true >out 2>err && fail "exec in a container that is not there"
grep -q 'another' err || fail "exec, another container: $(cat err)"
echo content >go.new && mv go.new go
wait $follower || fail "logs -f: code $?"
[ "$(tail -n 2 followed | xargs)" = "last content" ] || fail "logs -f: $(cat followed)"
k wait --for=condition=Succeeded --timeout=50s mpijob/calm >out 2>err || fail "calm: $(cat out err serve.log)"

# What does not fit is refused, by name.
sed 's/slotsPerWorker: 1/slotsPerWorker: many/' "$1/training.yaml" >bad.yaml
k apply -f bad.yaml >out 2>err && fail "a bad job is taken"
grep -q 'slotsPerWorker' err || fail "bad: $(cat err)"
k apply --server-side -f "$1/training.yaml" >out 2>err && fail "server-side apply is taken"
grep -q 'apply-patch' err || fail "server-side: $(cat err)"

# Suspended, resumed, with our own commands as well.
spec='runPolicy: {suspend: true}' write_job later <<<'echo done'
k apply -f later.yaml >out 2>err || fail "apply later: $(cat out err)"
k wait --for=condition=Suspended --timeout=50s mpijob/later >out 2>err || fail "suspended: $(cat out err)"
"$mpijob" get later | grep -q '^mpijob/later *Suspended' || fail "get later: $("$mpijob" get later)"
"$mpijob" resume later || fail "resume"
k wait --for=condition=Succeeded --timeout=50s mpijob/later >out 2>err || fail "resumed: $(cat out err serve.log)"
[ "$("$mpijob" logs -f later-launcher)" = "done" ] || fail "logs -f: $("$mpijob" logs later-launcher)"
"$mpijob" describe later | grep -q MPIJobResumed || fail "describe: $("$mpijob" describe later)"
"$mpijob" delete later >out || fail "delete: $(cat out)"
until_true no_job_pods later

# A namespace with all that is in it.
sed 's/name: registry.*/&/' "$1/training.yaml" >other.yaml
k apply -f - >out 2>err <<<'{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}' || fail "namespace: $(cat err)"
k -n other apply -f other.yaml >out 2>err || fail "in a namespace: $(cat out err)"
k -n other wait --for=condition=Succeeded --timeout=50s mpijob/training >out 2>err || fail "there: $(cat out err serve.log)"
k delete namespace other >out 2>err || fail "delete namespace: $(cat out err)"
k get namespace other >out 2>err && fail "the namespace is left: $(cat out)"

# A worker is killed: the launcher fails, and comes again as often as it may.
spec='runPolicy: {backoffLimit: 0}' write_job hurt <<<'mpirun -np 2 sh -c "echo ready; exec sleep 500"'
k apply -f hurt.yaml >out 2>err || fail "apply hurt: $(cat out err)"
ready() { [ "$(k logs hurt-launcher | grep -c ready)" = 2 ]; }
until_true ready
k delete pod hurt-worker-1 --grace-period=0 --force >out 2>err || fail "kill a worker: $(cat out err)"
k wait --for=condition=Failed --timeout=50s mpijob/hurt >out 2>err || fail "hurt: $(cat out err serve.log)"
k delete mpijob hurt calm >out 2>err || fail "delete: $(cat out err)"
end_serve
no_pods_left || fail "processes of pods are left"
echo "kubectl finds what it needs"
