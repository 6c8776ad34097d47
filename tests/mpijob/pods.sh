#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What pods are given: names, addresses, volumes, values of fields, limits, images, users; and the dialects of hostfiles.
. "$(dirname "$0")/lib.sh"
need_namespaces

# Hosts of each dialect, and ranks on them; slotsPerWorker; the launcher as a worker.
for dialect in OpenMPI Intel MPICH v1; do
    spec="slotsPerWorker: 2" version=v1
    [ $dialect = v1 ] || { spec="$spec
mpiImplementation: $dialect" && version=; }
    write_job ranks $version <<<'mpirun -np 4 sh -c "echo \$MUR_RANK on \$(hostname)"'
    run ranks
    [ $code = 0 ] || fail "$dialect: code $code: $(cat out err)"
    [ "$(sed 's/^\[ranks-launcher\] //' out | sort | xargs)" = \
        "0 on ranks-worker-0 1 on ranks-worker-0 2 on ranks-worker-1 3 on ranks-worker-1" ] || fail "$dialect: $(cat out)"
    nothing_left
done
spec='runLauncherAsWorker: true
launcherCreationPolicy: WaitForWorkersReady' workers=1 write_job both <<<'mpirun -np 2 hostname; sh /etc/mpi/discover_hosts.sh'
run both
[ $code = 0 ] && [ "$(sed 's/^[^ ]* //' out | sort | xargs)" = \
    "both-launcher both-launcher.both.default.svc both-worker-0 both-worker-0.both.default.svc" ] || fail "launcher as worker: code $code: $(cat out err)"

# Ranks of a program of MPI's, between the pods' own addresses.
write_job train <<<"MUR_COLL_REPRODUCIBLE=1 mpirun -np 2 -bind-to none -map-by slot -x MUR_COLL_REPRODUCIBLE -mca pml ob1 \
-mca btl ^openib --allow-run-as-root $EXAMPLES/train --steps 5 --check"
run train
[ $code = 0 ] && grep -q 'total images/sec: [0-9]' out && grep -q 'the same' out || fail "train: code $code: $(cat out err)"

# The users' job, as the example has it; the operator's conditions in the end.
cp "$1/training.yaml" .
PATH=$EXAMPLES:$PATH run training --image registry.example/train:1=host
[ $code = 0 ] && grep -q '^\[training-launcher\] total images/sec: [0-9]' out || fail "users' job: code $code: $(cat out err)"
wants Created True/MPIJobCreated
wants Running False/MPIJobRunning
wants Succeeded True/MPIJobSucceeded
nothing_left
cp "$1/training-v1.yaml" "$1/pi.yaml" .
PATH=$EXAMPLES:$PATH run training-v1 --image host
[ $code = 0 ] && grep -q 'rank 3: images/sec' out || fail "v1's: code $code: $(cat out err)"
PATH=$EXAMPLES:$PATH run pi
[ $code = 0 ] || fail "pi: code $code: $(cat out err)"

# Volumes and environment. The file's ConfigMap and Secret come first.
mkdir data && echo from the machine >data/file
cat >volumes.yaml <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue, other: red}
---
apiVersion: v1
kind: Secret
metadata: {name: hidden}
data: {password: aHVzaA==}
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: volumes, labels: {team: hpc}}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        metadata: {labels: {step: first}}
        spec:
          volumes:
          - {name: scratch, emptyDir: {}}
          - {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
          - {name: data, hostPath: {path: $scratch/data, type: Directory}}
          - {name: settings, configMap: {name: settings, items: [{key: color, path: c}]}}
          - {name: hidden, secret: {secretName: hidden}}
          containers:
          - name: launcher
            image: host
            workingDir: /mnt
            resources: {limits: {memory: 64Mi, cpu: 1500m}}
            volumeMounts:
            - {name: scratch, mountPath: /mnt/deep/scratch}
            - {name: memory, mountPath: /mnt/memory}
            - {name: data, mountPath: /mnt/data, readOnly: true}
            - {name: settings, mountPath: /mnt/settings}
            - {name: hidden, mountPath: /mnt/hidden}
            env:
            - {name: FIRST, value: one}
            - {name: SECOND, value: "\$(FIRST) two \$\$(FIRST)"}
            - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: STEP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['step']"}}}
            - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
            - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
            - {name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}
            - {name: PASSWORD, valueFrom: {secretKeyRef: {name: hidden, key: password}}}
            envFrom: [{prefix: S_, configMapRef: {name: settings}}]
            command: [sh, -c]
            args:
            - |
              pwd; echo "\$FIRST,\$SECOND,\$POD,\$STEP,\$CPUS,\$COLOR,\$PASSWORD,\$S_other"
              cat data/file settings/c hidden/password; echo; ls settings
              echo x >deep/scratch/y && ls deep/scratch; touch data/new 2>/dev/null || echo is read only
              head -c 2000000 /dev/zero >memory/big 2>/dev/null || echo is full
              ip -o -4 addr show eth0 | grep -q "\$IP/" && echo has its address
              echo "arguments: \$(FIRST)"
END
mkdir -p before && ls /mnt >before/mnt
run volumes
[ $code = 0 ] || fail "volumes: code $code: $(cat out err)"
sed 's/^[^ ]* //' out >log
cat >wanted <<'END'
/mnt
one,one two $(FIRST),volumes-launcher,first,2,blue,hush,red
from the machine
bluehush
c
y
is read only
is full
has its address
arguments: one
END
cmp -s log wanted || fail "volumes: $(diff log wanted)"
ls /mnt | cmp -s - before/mnt || fail "the machine's /mnt has changed: $(ls /mnt)"
nothing_left

# What is named and not there keeps the pod from starting, with a word; but not if it is optional.
sed 's/envFrom: .*/envFrom: [{secretRef: {name: lost}}]/; s/^spec:/&\n  runPolicy: {backoffLimit: 0}/' volumes.yaml >lost.yaml
run lost
[ $code = 128 ] && grep -q 'secret "lost" not found' err || fail "a lost secret: code $code: $(cat out err)"
sed -i 's/secretRef: {name: lost}/secretRef: {name: lost, optional: true}/' lost.yaml
run lost
[ $code = 0 ] || fail "an optional secret: code $code: $(cat out err)"
nothing_left

# Another image: a directory, which stays as it is.
mkdir -p image/bin image/proc image/dev image/sys image/tmp image/etc image/usr image/lib image/lib64
cp /bin/sh image/bin/ && ldd /bin/sh | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "image$(dirname "$library")" && cp -L "$library" "image$library"
done
workers=1 write_job image <<<'echo inside; cd /; echo *; echo x >/new; $OMPI_MCA_plm_rsh_agent image-worker-0.image.default.svc echo from the worker'
sed -i 's/image: host/image: registry.example/; s|- name: worker|&\n            command: [/usr/sbin/sshd, -De]|' image.yaml
find image | sort >before/image
run image
[ $code != 0 ] && grep -q -- '--image registry.example=DIRECTORY' err || fail "an unknown image: code $code: $(cat out err)"
sed -i 's/image: registry.example.*/image: registry.example:1/' image.yaml
run image --image "registry.example:1=$scratch/image"
[ $code = 0 ] && grep -q '\] inside' out && grep -q '\] from the worker' out || fail "image: code $code: $(cat out err)"
! grep -q home out || fail "the image sees the machine's root: $(cat out)"
find image | sort | cmp -s - before/image || fail "the image has changed: $(find image | sort | diff - before/image)"
nothing_left

# Too much memory: the limit of the container, where control groups can be made.
container='' write_job greedy <<<'python3 -c "x = bytearray(300 << 20); print(len(x))"'
sed -i '0,/image: host/s//image: host\n            resources: {limits: {memory: 100Mi}}/' greedy.yaml
sed -i 's/^spec:/&\n  runPolicy: {backoffLimit: 0}/' greedy.yaml
run greedy
if ! grep -q 'do not limit it' err; then
    [ $code != 0 ] && grep -q 'more memory than its limit' err || fail "memory: code $code: $(cat out err)"
fi
nothing_left

# A quarter of a CPU for three seconds: a machine under load gives less, but nothing gives more.
write_job slow <<<'python3 -c "
import time
end = time.monotonic() + 3
while time.monotonic() < end: pass
print(time.process_time())
assert time.process_time() < 2"'
sed -i '0,/image: host/s//image: host\n            resources: {limits: {cpu: 250m}}/' slow.yaml
sed -i 's/^spec:/&\n  runPolicy: {backoffLimit: 0}/' slow.yaml
run slow
[ $code = 0 ] || grep -q 'do not limit it' err || fail "cpu: code $code: $(cat out err)"
nothing_left

# Another user than root, where pods may have one.
if [ "$(id -u)" = 0 ]; then
    write_job user <<<'id -u; mpirun -np 2 sh -c "id -u"'
    sed -i 's/          containers:/          securityContext: {runAsUser: 1234}\n&/' user.yaml
    chmod 711 "$scratch" "$XDG_RUNTIME_DIR"
    run user
    [ $code = 0 ] && [ "$(sed 's/^[^ ]* //' out | xargs)" = "1234 1234 1234" ] || fail "user: code $code: $(cat out err)"
    sed -i 's/runAsUser: 1234/runAsNonRoot: true/; s/^spec:/&\n  runPolicy: {backoffLimit: 0}/' user.yaml
    run user
    [ $code != 0 ] && grep -q 'runAsNonRoot' err || fail "runAsNonRoot: code $code: $(cat out err)"
    nothing_left
fi

# A worker is killed: the launcher's mpirun sees it, and the job fails.
spec='runPolicy: {backoffLimit: 0}' write_job hurt <<<'mpirun -np 2 sh -c "echo ready; exec sleep 500"'
timeout 60 "$mpijob" run --set-status status hurt.yaml >out 2>err &
starter=$!
for _ in $(seq 300); do [ "$(grep -c ready out)" = 2 ] && break; sleep 0.1; done
victim=$(grep -lz '^HOSTNAME=hurt-worker-1$' /proc/[0-9]*/environ 2>/dev/null | sed 's|/proc/\(.*\)/environ|\1|' | sort -n | head -1)
kill -9 "$victim" || fail "no worker to kill: $(cat out err)"
wait $starter
code=$?
[ $code != 0 ] && [ $code != 124 ] || fail "a killed worker: code $code: $(cat out err)"
wants Failed True/BackoffLimitExceeded
nothing_left

# Without namespaces: the same job, in groups of processes.
write_job plain <<<'mpirun -np 2 sh -c "echo rank \$MUR_RANK"'
run plain --no-namespaces
[ $code = 0 ] && grep -q 'rank 1' out && grep -q 'pods are groups of processes' err || fail "plain: code $code: $(cat out err)"
nothing_left
echo "pods have what they should have"
