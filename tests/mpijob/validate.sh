#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpijob validate: each fault is told with its line, the path of the field, and in the words of Kubernetes.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$1" && pwd)

# An edit of a valid file, and what must be said of it.
write_job pi <<<"true"
cp pi.yaml good.yaml
"$mpijob" validate good.yaml >out 2>err || fail "a valid file: $(cat out err)"
[ "$(cat out)" = "good.yaml: valid" ] && [ ! -s err ] || fail "a valid file: $(cat out err)"
refused() { # SED-SCRIPT LINE TEXT
    sed "$1" good.yaml >bad.yaml
    ! cmp -s good.yaml bad.yaml || fail "the edit changes nothing: $1"
    "$mpijob" validate bad.yaml >out 2>err
    [ $? = 1 ] || fail "$1: not refused: $(cat out err)"
    grep -qF "bad.yaml:$2: error: $3" err || fail "$1: $(cat err) instead of line $2: $3"
}
refused 's/^spec:/&\n  slotPerWorker: 2/' 6 'unknown field "spec.slotPerWorker"'
refused 's/^spec:/&\n  slotsPerWorker: two/' 6 \
    'spec.slotsPerWorker: Invalid value: "string": spec.slotsPerWorker in body must be of type integer: "string"'
refused 's/^spec:/&\n  slotsPerWorker: -1/' 6 \
    'spec.slotsPerWorker: Invalid value: -1: spec.slotsPerWorker in body should be greater than or equal to 0'
refused 's/^spec:/&\n  mpiImplementation: LAM/' 6 \
    'spec.mpiImplementation: Unsupported value: "LAM": supported values: "OpenMPI", "Intel", "MPICH"'
refused 's/^spec:/&\n  runPolicy:\n    cleanPodPolicy: Some/' 7 \
    'spec.runPolicy.cleanPodPolicy: Unsupported value: "Some": supported values: "None", "Running", "All"'
refused 's/Launcher:/Leader:/' 7 'unknown field "spec.mpiReplicaSpecs.Leader"'
refused 's/Launcher:/Leader:/' 7 'spec.mpiReplicaSpecs.Launcher: Required value'
refused 's/      replicas: 1/      replicas: 2/' 8 'spec.mpiReplicaSpecs.Launcher.replicas: Invalid value: 2: must be 1'
refused 's/      replicas: 2/      replicas: 0/' 19 \
    'spec.mpiReplicaSpecs.Worker.replicas: Invalid value: 0: must be greater than or equal to 1'
refused 's/name: pi/name: Pi/' 4 'metadata.name: Invalid value: "Pi": will not be able to create pod'
refused 's/            image: host/&\n            imagge: x/' 14 \
    'unknown field "spec.mpiReplicaSpecs.Launcher.template.spec.containers[0].imagge"'
refused 's/          - name: worker/&\n            volumeMounts: [{name: data, mountPath: \/d}]/' 24 \
    'spec.mpiReplicaSpecs.Worker.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'
refused 's/          - name: worker/&\n            resources: {limits: {memory: lots}}/' 24 \
    'spec.mpiReplicaSpecs.Worker.template.spec.containers[0].resources.limits.memory: Invalid value: "lots": quantities must match'
refused 's/          - name: worker/&\n            resources: {limits: {cpu: 1}, requests: {cpu: 1500m}}/' 24 \
    'spec.mpiReplicaSpecs.Worker.template.spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1'
refused 's/v2beta1/v2/' 1 'no matches for kind "MPIJob" in version "kubeflow.org/v2"'
refused 's/^spec:/spec: {/' 7 'error converting YAML to JSON'
refused 's/  name: pi/&\n  name: po/' 5 'yaml: key already set in map: "name"'

refused() { # TEXT LINE MESSAGE: the whole file
    printf '%s' "$1" >bad.yaml
    ! "$mpijob" validate bad.yaml >out 2>err || fail "$1: not refused"
    grep -qF "bad.yaml:$2: error: $3" err || fail "$1: $(cat err)"
}
refused '' 1 'no objects are in the file'
refused '{"apiVersion": "kubeflow.org/v1",
 "kind": "MPIJob",
 "metadata": {"name": "a"},
 "spec": {"slotsPerWorker": 0, "mpiReplicaSpecs": {}}}' 4 'spec.slotsPerWorker: Invalid value: 0'
refused '{"a": 1,' 1 'not JSON'

# What the cluster takes, and `run` does not: that is told, too, and is no error.
sed 's/          - name: worker/&\n            volumeMounts: [{name: d, mountPath: \/d}]/
     s/          containers:/          volumes: [{name: d, nfs: {server: s, path: \/}}]\n          nodeSelector: {a: b}\n&/' good.yaml >far.yaml
"$mpijob" validate far.yaml >out 2>err || fail "nfs is no error: $(cat err)"
grep -qF "far.yaml:11: refused: spec.mpiReplicaSpecs.Launcher.template.spec.volumes[0].nfs: mpijob run does not" err &&
    grep -qF "far.yaml:12: note: spec.mpiReplicaSpecs.Launcher.template.spec.nodeSelector: mpijob run does nothing" err ||
    fail "nfs and nodeSelector: $(cat err)"
! "$mpijob" run far.yaml >out 2>err || fail "run took a volume that it refuses"
grep -q "volumes\[0\].nfs" err && grep -q "far.yaml is not run" err || fail "run: $(cat err)"

# Volcano's job, as its documentation has it.
cat >volcano.yaml <<'END'
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mpi}
spec:
  minAvailable: 3
  schedulerName: volcano
  plugins: {ssh: [], svc: [], mpi: ["--master=mpimaster", "--worker=mpiworker", "--port=22"]}
  tasks:
  - replicas: 1
    name: mpimaster
    policies: [{event: TaskCompleted, action: CompleteJob}]
    template: {spec: {containers: [{name: m, image: x, command: [a]}], restartPolicy: OnFailure}}
  - replicas: 2
    name: mpiworker
    template: {spec: {containers: [{name: w, image: x, command: [a]}], restartPolicy: OnFailure}}
END
"$mpijob" validate --quiet volcano.yaml >out 2>err || fail "Volcano's job: $(cat err)"
sed 's/minAvailable: 3/minAvailable: 4/; s/CompleteJob/Finish/' volcano.yaml >bad.yaml
! "$mpijob" validate bad.yaml >out 2>err || fail "Volcano's faults are taken"
grep -qF 'bad.yaml:11: error: spec.tasks[0].policies[0].action: Unsupported value: "Finish"' err || fail "$(cat err)"

for file in "$examples"/*.yaml; do
    "$mpijob" validate --quiet "$file" >out 2>err || fail "$(cat err)"
done
