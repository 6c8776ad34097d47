#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The quota of a small disk of its own is used up: every rank hears of it, and the job ends. Needs root, and a kernel with
# loop devices and btrfs, whose quotas hold for root as well.
set -u
[ "$(id -u)" = 0 ] && command -v mkfs.btrfs >/dev/null || { echo "not root, or no mkfs.btrfs"; exit 77; }
folder=$(mktemp -d)
trap 'umount "$folder/disk" 2>/dev/null; rm -rf "$folder"' EXIT
mkdir "$folder/disk"
truncate -s 128m "$folder/image"
mkfs.btrfs -q "$folder/image" || exit 77
mount -o loop "$folder/image" "$folder/disk" 2>/dev/null || { echo "cannot mount here"; exit 77; }
small=$folder/disk/small
{ btrfs quota enable "$folder/disk" && btrfs subvolume create "$small" && btrfs qgroup limit 3m "$small"; } >/dev/null ||
    { echo "no quotas here"; exit 77; }

for MUR_IO_SHARED in 1 0; do
    for form in all sieve later; do
        export MUR_IO_SHARED
        # alone, those who come first may find room, so there is none before
        [ $form = all ] || dd if=/dev/zero of="$small/rest" bs=4k 2>/dev/null
        output=$(timeout 30 "$MPIEXEC" -n 4 "$HELPER" "$small/matrix" 8 1 $form 2>&1)
        if [ "$(grep -c '^quota$' <<<"$output")" -ne 4 ] || grep -q "not name" <<<"$output"; then
            echo "failed with MUR_IO_SHARED=$MUR_IO_SHARED, $form: $output"
            exit 1
        fi
        rm -f "$small/matrix" "$small/rest"
        btrfs filesystem sync "$folder/disk" # so that what was there is given back
    done
done
