#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A disk that is too small: every rank hears that there is no space, and the job ends. Needs a mount of its own, as root
# or in a user's namespace.
set -u
if [ -z "${MUR_IN_NAMESPACE:-}" ]; then
    unshare -rm true 2>/dev/null || { echo "cannot mount here"; exit 77; }
    exec env MUR_IN_NAMESPACE=1 unshare -rm bash "$0"
fi
disk=$(mktemp -d)
trap 'umount "$disk"; rmdir "$disk"' EXIT
mount -t tmpfs -o size=1m none "$disk" || exit 77
for shared in 1 0; do
    output=$(MUR_IO_SHARED=$shared timeout 30 "$MPIEXEC" -n 4 "$HELPER" "$disk/matrix" 8 1 2>&1)
    if [ "$(grep -c '^no space$' <<<"$output")" -ne 4 ]; then
        echo "failed with MUR_IO_SHARED=$shared: $output"
        exit 1
    fi
    rm "$disk/matrix"
done
