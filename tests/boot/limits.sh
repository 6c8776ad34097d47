#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs where the system gives little: limits of addresses and file sizes, a small /dev/shm, system calls that the filter
# of a container refuses. The ranks share less memory, or have it by another way, and all goes well.
set -u
fails=0
ring=$BUILD/examples/ring turn=$BUILD/tests/boot/boot-turn
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() { # what, command...
    local what=$1 output code
    shift
    output=$(timeout 60 "$@" 2>&1)
    code=$?
    [ $code != 77 ] || { echo "NOT TESTED: $what: $output"; return; }
    [ $code = 0 ] || { echo "failed: $what: exit code $code: $output"; fails=1; }
    rm -f "$scratch/file"
}

limited() { # a limit as ulimit takes it, ranks
    check "ulimit $1, $2 ranks" bash -c "ulimit $1 && exec '$MPIEXEC' -n $2 '$turn' 1 '$scratch/file'"
}

for kib in 4000000 400000 150000 96000 60000; do
    for ranks in 1 2 5; do limited "-v $kib" $ranks; done
done
for kib in 300000 20000 2000 600; do
    for ranks in 1 2 5; do limited "-f $kib" $ranks; done
done
check "one process without mpiexec, with few addresses" bash -c "ulimit -v 100000 && exec '$turn' 1 '$scratch/file'"

for names in memfd_create setpgid membarrier process_vm_readv,process_vm_writev,kcmp pidfd_open io_uring_setup \
    madvise fallocate close_range subreaper \
    memfd_create,setpgid,membarrier,process_vm_readv,process_vm_writev,pidfd_open,io_uring_setup; do
    for ranks in 1 3; do
        check "without $names, $ranks ranks" "$BUILD/tests/boot/boot-denied" $names "$MPIEXEC" -n $ranks "$turn" 1 \
            "$scratch/file"
    done
    check "without $names, a script" "$BUILD/tests/boot/boot-denied" $names "$MPIEXEC" -n 2 sh -c \
        "'$turn' 1 '$scratch/file' && '$turn' 2 '$scratch/other'"
    rm -f "$scratch/other"
done
# No subreaper: one note, and the job runs.
output=$("$BUILD/tests/boot/boot-denied" subreaper "$MPIEXEC" -n 2 true 2>&1)
code=$?
[ $code = 77 ] || [ "$code $(grep -c 'note: .* subreaper' <<<"$output")" = "0 1" ] ||
    { echo "failed: without subreapers: exit code $code: $output"; fails=1; }
# Signals reach a rank that has no process group of its own.
output=$("$BUILD/tests/boot/boot-denied" setpgid timeout 20 "$MPIEXEC" -n 2 sh -c '[ $MUR_RANK = 0 ] || exit 3; sleep 60' 2>&1)
[ $? = 3 ] || { echo "failed: a failure without process groups: $output"; fails=1; }
exit $fails
