#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Snapshots in a directory that all hosts share: restarts, on other numbers of ranks, too; what is refused; full disks.
. "$(dirname "$0")/lib.sh"
export MUR_CKPT_PREFIX=$scratch/snapshots/of/this/job
ends "undisturbed" 0 -n 3 "$steps" 40
cp out undisturbed
[ -e snapshots ] && fail "snapshots that nobody asked for: $(ls -R snapshots)"
MUR_CKPT_RESTART=latest ends "nothing to start from" 0 -n 4 "$steps" 40
is_right "nothing to start from" -1

ends "killed" 137 -n 4 "$steps" 40 save=3 die=20:2
[[ $(whole "$MUR_CKPT_PREFIX") == *"app-4 app-5 " ]] || fail "which are there: $(ls "$MUR_CKPT_PREFIX")"
cp -a "$MUR_CKPT_PREFIX" kept
rm -rf kept/app-[0-3] kept/*.partial
export MUR_CKPT_RESTART=latest
for ranks in 4 6 1 5; do
    ends "on $ranks ranks" 0 -n $ranks "$steps" 40
    is_right "on $ranks ranks" 18
done
MUR_CKPT_RESTART=4 ends "the older one" 0 -n 2 "$steps" 40
is_right "the older one" 15
ends "killed again, on the way" 137 -n 6 "$steps" 40 save=4 die=33:0
[[ $(whole "$MUR_CKPT_PREFIX") == *"app-8 app-9 " ]] || fail "the numbers go on: $(ls "$MUR_CKPT_PREFIX")"
ends "the second restart" 0 -n 3 "$steps" 40
is_right "the second restart" 32
ends "the third restart, to the end" 0 -n 5 "$steps" 44 save=4
grep -qx "from 32" out || fail "the third restart: $(cat out)"
[ "$(ls "$MUR_CKPT_PREFIX" | tr '\n' ' ')" = "app-11 app-12 " ] || fail "which are kept: $(ls "$MUR_CKPT_PREFIX")"

# What was altered is noticed, and the older one taken.
again() {
    rm -rf "$MUR_CKPT_PREFIX"
    cp -a kept "$MUR_CKPT_PREFIX"
}
again
printf x | dd of="$MUR_CKPT_PREFIX/app-5/array-1" bs=1 seek=100001 conv=notrunc status=none
ends "an altered array" 0 -n 4 "$steps" 40
is_right "an altered array" 15
grep -q "snapshot 4 is restored, since a newer one cannot be: snapshot 5: .*array-1 was altered" err ||
    fail "an altered array: $(cat err)"
again
truncate -s -1 "$MUR_CKPT_PREFIX/app-5/rank-0"
rm "$MUR_CKPT_PREFIX/app-4/array-1"
ends "two broken ones" 1 -n 4 "$steps" 40
grep -q "snapshot 5: rank 0: cannot read .*rank-0: it is shorter than it was" err || fail "two broken ones: $(cat err)"
MUR_CKPT_RESTART=3 ends "one that is not there" 1 -n 4 "$steps" 40
grep -q "snapshot 3: rank 0: cannot open .*app-3/manifest: No such file.*MPI_ERR_IO" err || fail "one that is not there: $(cat err)"
again
ends "other data than there were" 1 -n 4 "$steps" 40 private
grep -q "it has 3 regions, but 4 are registered" err || fail "other data: $(cat err)"
MUR_CKPT_RESTART=last ends "a wrong word" 1 -n 4 "$steps" 40
grep -q 'MUR_CKPT_RESTART is "last", but must be none, latest, or a snapshot' err || fail "a wrong word: $(cat err)"

# Data of single ranks need as many of them.
rm -rf "$MUR_CKPT_PREFIX"
ends "with data of its own" 137 -n 4 "$steps" 40 private save=5 die=12:1
ends "with data of its own, restarted" 0 -n 4 "$steps" 40 private
is_right "with data of its own" 10
ends "with data of its own, on fewer ranks" 1 -n 3 "$steps" 40 private
grep -q "it was written by 4 ranks, and there are 3 now; region 3 belongs to single ranks" err ||
    fail "on fewer ranks: $(cat err)"

# By the clock, and asked for by a signal.
rm -rf "$MUR_CKPT_PREFIX"
MUR_CKPT_INTERVAL=0.000001 ends "at each point" 137 -n 2 "$steps" 40 die=30:1
ends "the last of them" 0 -n 2 "$steps" 40
grep -qx "from 30" out || grep -qx "from 29" out || fail "at each point: $(cat out)"
rm -rf "$MUR_CKPT_PREFIX"
MUR_CKPT_SIGNAL=10 "$mpiexec" -n 2 "$steps" 100000000 >out 2>err </dev/null &
job=$!
for _ in $(seq 600); do grep -q from out && break; sleep 0.1; done
kill -USR1 $job
for _ in $(seq 600); do [ -e "$MUR_CKPT_PREFIX/app-0" ] && break; sleep 0.1; done
kill -KILL $job
wait $job 2>/dev/null
[ -e "$MUR_CKPT_PREFIX/app-0" ] || fail "a signal takes no snapshot"

# By the launcher's options.
unset MUR_CKPT_RESTART
export -n MUR_CKPT_PREFIX
rm -rf "$MUR_CKPT_PREFIX"
mkdir "$MUR_CKPT_PREFIX"
words=(-ckpointlib app -ckpoint-prefix "$MUR_CKPT_PREFIX")
ends "by options" 137 "${words[@]}" -ckpoint-interval 0.001 -ckpoint-keep 3 -n 4 "$steps" 40 save=5 die=30:1
ends "-restart" 0 -ckpointlib app -restart "$MUR_CKPT_PREFIX" -n 3 "$steps" 40
grep -q "from [23]" out && [ "$(grep sum out)" = "$(grep sum undisturbed)" ] || fail "-restart: $(cat out err)"
ends "a snapshot that is not there" 1 "${words[@]}" -ckpoint-num 100000 -n 3 "$steps" 40
grep -q "snapshot 100000: " err || fail "a snapshot that is not there: $(cat err)"
ends "without a program" 2 "${words[@]}"
grep -q "no program to run\|wants the program also" err || fail "without a program: $(cat err)"
export MUR_CKPT_PREFIX

# A full disk harms nothing.
unset MUR_CKPT_RESTART
mkdir small
if mount -t tmpfs -o size=300k none small 2>/dev/null; then
    trap 'umount "$scratch/small"; rm -rf "$scratch"' EXIT
    MUR_CKPT_PREFIX=$scratch/small/here MUR_CKPT_INTERVAL=0.000001 ends "a full disk" 0 -n 3 "$steps" 40
    is_right "a full disk" -1
    [ "$(grep -c "a snapshot cannot be written, and the job goes on without it: .*No space left" err)" = 1 ] ||
        fail "a full disk: $(cat err)"
    [ -z "$(ls small/here 2>/dev/null)" ] || fail "what is left on a full disk: $(ls -R small)"
    cp -a kept/app-5 small 2>/dev/null && fail "the disk is not full enough"
    MUR_CKPT_PREFIX=$scratch/small/here ends "a full disk, where it must be written" 1 -n 3 "$steps" 40 save=7
fi
exit 0
