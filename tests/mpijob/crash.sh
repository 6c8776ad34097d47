#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The service, its node, its controller and launchers are killed at random while jobs run: each job ends in a right state, no
# command runs twice at once, nothing is left. MUR_TEST_SEED repeats the choices, MUR_TEST_ROUNDS kills (12).
. "$(dirname "$0")/serve.sh"
need_namespaces
seed=${MUR_TEST_SEED:-1}
echo "MUR_TEST_SEED=$seed"
RANDOM=$seed
rounds=${MUR_TEST_ROUNDS:-12}
jobs=6
start_serve

# A launcher holds a lock, which its processes let go when the last of them ends; it writes a line when all is done.
mkdir -p locks ended
for i in $(seq $jobs); do
    spec='runPolicy: {backoffLimit: 1000}' write_job "job$i" <<END
exec 9>$scratch/locks/job$i
flock -n 9 || { echo job$i runs twice >>$scratch/twice; exit 1; }
mpirun -np 2 sh -c 'sleep 0.5; echo done' || exit 1
until [ -e $scratch/go ]; do sleep 0.1; done
echo x >>$scratch/ended/job$i
END
    python3 "$1/client.py" create "job$i.yaml" || fail "job$i is not taken"
done

victim() { # a process of the service, by its place in the tree
    case $1 in
    0) echo "$server" ;;
    1) pgrep -P "$server" | head -1 ;;
    2) pgrep -P "$server" | tail -1 ;;
    esac
}
for round in $(seq "$rounds"); do
    sleep "0.$((RANDOM % 9 + 1))"
    what=$((RANDOM % 4))
    if [ $what = 3 ]; then # a process of a launcher: as if the machine had no memory left
        pod=$(pods_of_test launcher | shuf -n 1 --random-source=<(yes "$seed$round"))
        [ -z "$pod" ] || kill -9 "$pod" 2>/dev/null
    else
        process=$(victim $what) # the service may just be about to start it again
        [ -z "$process" ] || kill -9 "$process"
    fi
    if [ $what = 0 ]; then
        wait "$server" 2>/dev/null
        start_serve
    fi
done
touch go
for i in $(seq $jobs); do
    until_true python3 "$1/client.py" has "job$i" Succeeded
    [ -s "ended/job$i" ] || fail "job$i has succeeded, but its command has not"
    [ "$(wc -l <"ended/job$i")" = 1 ] || fail "job$i has ended $(wc -l <"ended/job$i") times"
done
[ ! -e twice ] || fail "$(cat twice)"
for i in $(seq $jobs); do
    "$mpijob" delete "job$i" >/dev/null || fail "delete job$i"
done
until_true no_pods_left
no_folders_left() { [ -z "$(ls -A "$data/spaces/default/pods")" ]; }
until_true no_folders_left
end_serve
no_pods_left || fail "processes of pods are left"
[ -z "$(find /sys/fs/cgroup -name "mpijob-*-job[0-9]-*" 2>/dev/null)" ] || fail "control groups are left"
echo "all jobs ended well after $rounds kills"
