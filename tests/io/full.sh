#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A disk that is too small, a file that may not grow, a disk that is read only: every rank hears of it, by the right
# class and with the file's name, and the job ends. Needs a mount of its own, as root or in a user's namespace.
set -u
if [ -z "${MUR_IN_NAMESPACE:-}" ]; then
    unshare -rm true 2>/dev/null || { echo "cannot mount here"; exit 77; }
    exec env MUR_IN_NAMESPACE=1 unshare -rm bash "$0"
fi
disk=$(mktemp -d)
trap 'umount "$disk"; rmdir "$disk"' EXIT
mount -t tmpfs -o size=1m none "$disk" || exit 77

expect() { # TEXT COMMAND... : four ranks say so
    local text=$1 output
    shift
    output=$("$@" 2>&1)
    if [ "$(grep -c "^$text\$" <<<"$output")" -ne 4 ] || grep -q "not name" <<<"$output"; then
        echo "failed: expected '$text' with $(env | grep ^MUR_IO | tr '\n' ' ')$*: $output"
        exit 1
    fi
}
run() { timeout 30 "$MPIEXEC" -n 4 "$HELPER" "$@"; }
limited() { timeout 30 "$MPIEXEC" -n 4 sh -c 'ulimit -f 300 && exec "$@"' sh "$HELPER" "$@"; } # only the ranks

for MUR_IO_SHARED in 1 0; do
    for MUR_IO_URING in 1 0; do
        export MUR_IO_SHARED MUR_IO_URING
        for form in all sieve later; do
            # alone, those who come first may find room, so the disk is full before
            [ $form = all ] || fallocate -l 1m "$disk/rest"
            expect "no space" run "$disk/matrix" 8 1 $form
            rm -f "$disk/matrix" "$disk/rest"
        done
        expect "no space" limited "$disk/matrix" 4 1 all
        rm "$disk/matrix"
    done
    touch "$disk/matrix"
    mount -o remount,bind,ro "$disk"
    expect "read only" run "$disk/matrix" 1 1
    mount -o remount,bind,rw "$disk"
    rm "$disk/matrix"
done
