#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What goes wrong with snapshots harms neither the job nor older snapshots, and is told: failures.sh TRAFFIC, and
# the program of connected.c in CONNECTED.
. "$(dirname "$0")/lib.sh"
traffic=$1 connected=${CONNECTED:?}
save="-ckpointlib criu -ckpoint-prefix $snapshots"
criu=$MUR_CRIU
rounds=300

"$mpiexec" -ckpoint-check >"$out" 2>&1 || skip "$(cat "$out")"
"$mpiexec" -n 2 "$traffic" $rounds 0 >"$scratch/expected" || fail "the traffic without snapshots"
good=$(result "$scratch/expected")

goes_on() { # WHAT: the job ends well, and has said why there is no snapshot
    finish 0
    [ "$(result "$out")" = "$good" ] || fail "$1: the result"
    [ "$(grep -c 'no snapshot could be taken' "$out")" = 1 ] || fail "$1: it is not said once"
    [ -z "$(ls "$snapshots" | grep partial)" ] || fail "$1: something is left: $(ls "$snapshots")"
}

# CRIU that fails at each of its steps; $1 says how.
broken() {
    cat >"$scratch/criu" <<END
#!/bin/bash
[ "\$1" = $1 ] || exec $criu "\$@"
$2
END
    chmod +x "$scratch/criu"
    export MUR_CRIU=$scratch/criu
}

broken dump "exit 1"
start $save -ckpoint-interval 0.3 -n 2 "$traffic" $rounds 5000
goes_on "CRIU that fails"
broken dump "echo 'no such luck' >&2; exit 3"
start $save -ckpoint-interval 0.3 -n 2 "$traffic" $rounds 5000
goes_on "CRIU that complains"
says "no such luck"
broken dump "kill -9 \$\$"
start $save -ckpoint-interval 0.3 -n 2 "$traffic" $rounds 5000
goes_on "CRIU that is killed"
broken dump "$criu \"\$@\"; exit 1"
start $save -ckpoint-interval 0.3 -n 2 "$traffic" $rounds 5000
goes_on "CRIU that fails at the end"
broken dump "exec $criu \"\${@/node-0.criu/nowhere}\""
start $save -ckpoint-interval 0.3 -n 2 "$traffic" $rounds 5000
goes_on "CRIU without its folder"
export MUR_CRIU=/nowhere/criu
start $save -ckpoint-interval 0.3 -n 2 "$traffic" $rounds 5000
goes_on "no CRIU"
says "/nowhere/criu"
export MUR_CRIU=$criu

# A full disk: the job goes on, and what fitted stays.
mkdir "$scratch/small"
mount -t tmpfs -o size=40m none "$scratch/small" || skip "cannot mount a small file system"
start -ckpointlib criu -ckpoint-prefix "$scratch/small" -ckpoint-keep 100 -ckpoint-interval 0.2 -n 2 "$traffic" 3000 5000
until_true grep -q 'no snapshot could be taken' "$out" || fail "a full disk is not noticed"
[ -e "$scratch/small/0/manifest" ] || fail "the disk was full too early for this test: $(du -a "$scratch/small")"
kill_job
start -restart "$scratch/small"
finish 0
"$mpiexec" -n 2 "$traffic" 3000 0 >"$scratch/longer"
[ "$(result "$out")" = "$(result "$scratch/longer")" ] || fail "the result of the snapshot on the full disk"
umount "$scratch/small"

# What cannot be carried over is refused by name, and the job goes on.
refused() { # TEXT COMMAND
    start $save -n 2 bash -c "$2; for i in \$(seq 10); do sleep 0.1; done; echo digest of it"
    sleep 0.3
    kill -USR1 $job
    finish 0
    says "$1"
    says "the program bash has"
    rm -rf "${snapshots:?}"/*
}
refused "a network connection of its own" "exec 9<>/dev/udp/127.0.0.1/9"
refused "the device /dev/kmsg" "exec 9</dev/kmsg"

# So is a connection with another job.
start $save -n 1 "$connected" "$scratch/port"
until_true test -s "$scratch/port" || fail "the server does not begin"
"$mpiexec" -n 1 "$connected" "$scratch/port" client >/dev/null &
until_true grep -q connected "$out" || fail "the two jobs do not connect"
kill -USR1 $job
finish 0
says "connected with those of another job"
wait

# Images that were altered or cut, missing files, other builds.
start $save -ckpoint-interval 0.3 -n 2 "$traffic" $rounds 8000 "$scratch/file"
wait_for 1
kill_job
last=$(ls "$snapshots" | grep -v partial | sort -n | tail -1)
cp -r "$snapshots" "$scratch/kept"
unusable() { # TEXT CODE
    start -restart "$snapshots" -ckpoint-num "$last"
    finish "$2"
    says "$1"
    rm -rf "${snapshots:?}"/*
    cp -r "$scratch/kept/." "$snapshots"
}
image=$snapshots/$last/node-0.image
printf 'x' | dd of="$image" bs=1 seek=5000 conv=notrunc status=none
unusable "checksum is wrong" 1
truncate -s -1 "$image"
unusable "checksum is wrong" 1
sed -i 's/^ranks 2/ranks 3/' "$snapshots/$last/manifest"
unusable "has been altered" 2
truncate -s 40 "$snapshots/$last/manifest"
unusable "has been altered" 2
printf 'x' | dd of="$snapshots/$last/job" bs=1 seek=100 conv=notrunc status=none
unusable "checksum is wrong" 2
printf '1' | dd of="$snapshots/$last/node-0.ranks" bs=1 seek=7 conv=notrunc status=none
unusable "checksum is wrong" 1
rm "$snapshots/$last/node-0.image"
unusable "node-0.image" 1
mv "$scratch/file" "$scratch/file.away"
unusable "which ranks had open for writing" 1
mv "$scratch/file.away" "$scratch/file"
broken restore "exit 1"
unusable "CRIU" 1
broken restore "kill -9 \$\$"
unusable "CRIU was killed" 1
export MUR_CRIU=$criu
cp "$mpiexec" "$scratch/mpiexec"
printf 'x' >>"$scratch/mpiexec"
"$scratch/mpiexec" -restart "$snapshots" >"$out" 2>&1 && fail "another build restarts it"
says "another build"

# Where the latest is not whole, the one before it is taken.
rm "$snapshots/$last/manifest"
mkdir "$snapshots/77.partial"
start -restart "$snapshots"
finish 0
[ "$(result "$out")" = "$good" ] || fail "the result after a restart from an older snapshot"
rm -rf "${snapshots:?}"/*

# An agent that is killed while a snapshot is taken: the job ends, and an older snapshot restarts.
start $save -ckpoint-interval 0.2 -n 2 "$traffic" $rounds 50000
wait_for 0
agent=$(pgrep -P "$(pgrep -P $job)")
until [ -n "$(ls -d "$snapshots"/*.partial 2>/dev/null)" ]; do :; done
kill -9 $agent
finish 200
start -restart "$snapshots"
finish 0
[ "$(result "$out")" = "$good" ] || fail "the result after an agent was killed"

# Usage.
usage() { # TEXT ARGS...
    local text=$1
    shift
    "$mpiexec" "$@" >"$out" 2>&1 && fail "mpiexec $* is taken"
    says "$text"
}
usage "is no directory\|No such file" -ckpointlib criu -ckpoint-prefix /nowhere -n 1 true
usage "wants criu" -ckpointlib dmtcp -n 1 true
usage "wants -ckpoint-prefix" -ckpointlib criu -n 1 true
usage "want -ckpointlib" -ckpoint-interval 3 -n 1 true
usage "no whole snapshot" -restart "$scratch/small"
usage "process number of an mpiexec" -checkpoint 1
exit 0
