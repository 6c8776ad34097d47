#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How jobs end: success, failure, retries, deadline, suspension, deletion, each with the conditions of the operator.
. "$(dirname "$0")/lib.sh"
need_namespaces

write_job good <<<'echo to the log; hostname; test -r /etc/mpi/hostfile && cat /etc/mpi/hostfile'
run good
[ $code = 0 ] || fail "good: code $code: $(cat out err)"
wants Created True/MPIJobCreated
wants Running False/MPIJobRunning
wants Succeeded True/MPIJobSucceeded
grep -qx '\[good-launcher\] to the log' out && grep -qx '\[good-launcher\] good-launcher' out &&
    grep -qx '\[good-launcher\] good-worker-1.good.default.svc slots=1' out || fail "good: the log is $(cat out)"
nothing_left

# The launcher's code; no retry is left.
spec='runPolicy: {backoffLimit: 0}' write_job bad <<<'exit 7'
run bad
[ $code = 7 ] || fail "bad: code $code: $(cat out err)"
wants Failed True/BackoffLimitExceeded
nothing_left

# Two failures, then success: in new pods (Never), and in the same one (OnFailure).
for policy in Never OnFailure; do
    rm -f tries
    launcher="restartPolicy: $policy" spec='runPolicy: {backoffLimit: 2}' write_job again <<END
echo try >>$scratch/tries
[ \$(wc -l <$scratch/tries) -gt 2 ] || exit 9
END
    run again
    [ $code = 0 ] && [ "$(wc -l <tries)" = 3 ] || fail "$policy: code $code, tries $(cat tries): $(cat out err)"
    wants Succeeded True/MPIJobSucceeded
    nothing_left
    rm tries
    sed -i 's/backoffLimit: 2/backoffLimit: 1/' again.yaml
    run again
    [ $code = 9 ] && [ "$(wc -l <tries)" = 2 ] || fail "$policy, one retry: code $code, tries $(cat tries): $(cat out err)"
    wants Failed True/BackoffLimitExceeded
    nothing_left
done

# v1's ExitCode: 128 and above may go well another time, others will not.
rm -f tries
launcher='restartPolicy: ExitCode' write_job exits v1 <<END
echo try >>$scratch/tries
[ \$(wc -l <$scratch/tries) -gt 1 ] || exit 130
exit 3
END
run exits
[ $code = 3 ] && [ "$(wc -l <tries)" = 2 ] || fail "ExitCode: code $code, tries $(cat tries): $(cat out err)"
wants Failed True/MPIJobFailed
grep -q 'Restarting: MPIJobRestarting' err || fail "ExitCode: it did not restart: $(cat err)"
nothing_left

spec='runPolicy: {activeDeadlineSeconds: 1}' write_job late <<<'sleep 100'
run late
[ $code != 0 ] && [ $code != 124 ] || fail "late: code $code"
wants Failed True/DeadlineExceeded
nothing_left

# Suspended from the start, resumed, suspended again, resumed; the second launcher's first words end the wait.
spec='runPolicy: {suspend: true}' write_job calm <<END
echo try >>$scratch/calm.tries
[ \$(wc -l <$scratch/calm.tries) -gt 1 ] || exec sleep 100
END
timeout 60 "$mpijob" run --set-status status calm.yaml >out 2>err &
wait_for() { # COMMAND...
    for _ in $(seq 300); do
        "$@" && return
        sleep 0.1
    done
    fail "waited in vain for: $*: $(cat out err)"
}
is() { [ -e status ] && [ "$(condition "$1")" = "$2" ]; }
rm -f status
wait_for is Suspended True/MPIJobSuspended
"$mpijob" get calm >asked || fail "get: $(cat asked)"
! grep -q pod/ asked || fail "a suspended job has pods: $(cat asked)"
! timeout 10 "$mpijob" run calm.yaml >second 2>&1 || fail "the same job ran twice"
grep -q "already exists" second || fail "the same job twice: $(cat second)"
"$mpijob" resume calm || fail "resume"
wait_for test -e calm.tries
wait_for is Running True/MPIJobRunning
is Suspended False/MPIJobResumed || fail "resumed: $(cat status)"
"$mpijob" get calm | grep -q '^pod/calm-worker-1 .*Running' || fail "get: $("$mpijob" get calm)"
"$mpijob" suspend calm || fail "suspend"
wait_for is Suspended True/MPIJobSuspended
is Running False/MPIJobSuspended || fail "suspended: $(cat status)"
no_pods() { ! "$mpijob" get calm | grep -q ^pod/; }
wait_for no_pods
"$mpijob" resume calm || fail "resume again"
wait $! || fail "calm: code $?: $(cat out err)"
wants Succeeded True/MPIJobSucceeded
nothing_left

# Deleted while it runs; and the one who runs it is killed: nothing outlives it.
for end in delete kill; do
    container='resources: {limits: {memory: 64Mi, cpu: 1}}' write_job gone <<<'echo here; exec sleep 1000'
    timeout 60 "$mpijob" run --set-status status gone.yaml >out 2>err &
    starter=$!
    wait_for grep -q here out
    if [ $end = delete ]; then
        "$mpijob" delete gone || fail "delete"
        wait $starter
    else
        kill -9 "$(pgrep -P $starter -x mpijob)"
        wait $starter 2>/dev/null
        alive() { ! pgrep -f '^sleep 1000$' >/dev/null; }
        wait_for alive
        write_job gone <<<'true'
        run gone
        [ $code = 0 ] || fail "after a kill: code $code: $(cat out err)"
        [ -z "$(find /sys/fs/cgroup -name 'mpijob-*-gone-*' 2>/dev/null)" ] || fail "control groups are left"
    fi
    nothing_left
done

# Workers stay until the end, or go with it, as cleanPodPolicy says.
for policy in None Running All; do
    spec="runPolicy: {cleanPodPolicy: $policy, ttlSecondsAfterFinished: 2}" write_job clean <<<'true'
    timeout 60 "$mpijob" run --keep --set-status status clean.yaml >out 2>err &
    rm -f status
    wait_for is Succeeded True/MPIJobSucceeded
    left() { [ "$("$mpijob" get clean | grep -c worker)" = "$1" ]; }
    wait_for left "$([ $policy = None ] && echo 2 || echo 0)"
    wait $! || fail "clean $policy: code $?: $(cat out err)"
    nothing_left
done
echo "all conditions are as they should be"
