#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Snapshots on the hosts' own disks, which are directories here: lost ones are made good from partners or parities.
. "$(dirname "$0")/lib.sh"
ends "undisturbed" 0 -n 6 "$steps" 40 private
cp out undisturbed

# REDUNDANCY ARGS...: three hosts of two ranks.
on_three() {
    export MUR_CKPT_REDUNDANCY=$1
    local what=$2 code=$3 dirs=("$scratch/a" "$scratch/b" "$scratch/c")
    shift 3
    ends "$what" "$code" -n 2 -env MUR_CKPT_LOCAL "${dirs[${order[0]}]}" "$steps" 40 private "$@" \
        : -n 2 -env MUR_CKPT_LOCAL "${dirs[${order[1]}]}" "$steps" 40 private "$@" \
        : -n 2 -env MUR_CKPT_LOCAL "${dirs[${order[2]}]}" "$steps" 40 private "$@"
}

for redundancy in none partner xor; do
    export MUR_CKPT_RESTART=none
    order=(0 1 2)
    rm -rf a b c kept
    on_three $redundancy "$redundancy: killed" 137 save=7 die=30:3
    [[ $(whole a b c) == *"app-2 app-2 app-2 app-3 app-3 app-3 " ]] || fail "$redundancy: which are there: $(ls a b c)"
    mkdir kept
    cp -a a b c kept
    export MUR_CKPT_RESTART=latest
    on_three $redundancy "$redundancy: restarted" 0
    is_right "$redundancy: restarted" 28
    # The ranks come to other hosts.
    order=(2 0 1)
    rm -rf a b c
    cp -a kept/* .
    on_three $redundancy "$redundancy: moved" 0
    is_right "$redundancy: moved" 28
    order=(0 1 2)
    for lost in a b c; do
        rm -rf a b c
        cp -a kept/* .
        rm -rf $lost
        if [ $redundancy = none ]; then
            on_three $redundancy "$redundancy: $lost is lost" 1
            grep -q "the data of rank . are lost" err || fail "what is said of $lost: $(cat err)"
        else
            on_three $redundancy "$redundancy: $lost is lost" 0
            is_right "$redundancy: $lost is lost" 28
        fi
    done
    # A file is altered: as good as lost.
    rm -rf a b c
    cp -a kept/* .
    printf x | dd of=b/app-3/rank-2 bs=1 seek=5000 conv=notrunc status=none
    if [ $redundancy = none ]; then
        on_three $redundancy "$redundancy: altered" 0
        is_right "$redundancy: altered" 21
    else
        on_three $redundancy "$redundancy: altered" 0
        is_right "$redundancy: altered" 28
    fi
    # Two hosts are more than what was promised.
    rm -rf a b c
    cp -a kept/* .
    rm -rf a b
    on_three $redundancy "$redundancy: two are lost" 1
done

# A host that has room for the files and for one rank's parity: one group fails, the other does not; the job goes on.
rm -rf a b c
mkdir c
if mount -t tmpfs -o nr_inodes=5 none c 2>/dev/null; then
    trap 'umount "$scratch/c" 2>/dev/null; rm -rf "$scratch"' EXIT
    export MUR_CKPT_RESTART=none
    MUR_CKPT_INTERVAL=0.000001 on_three xor "a parity that has no room" 0
    is_right "a parity that has no room" -1
    grep -q "a snapshot cannot be written, and the job goes on without it: rank [45]: cannot open .*No space left" err ||
        fail "a parity that has no room: $(cat err)"
    [ -z "$(ls a b c | grep app)" ] || fail "a parity that has no room: left are $(ls -R a b c)"
    umount c
fi

# Where the common directory has an older one, that is taken.
export MUR_CKPT_PREFIX=$scratch/common MUR_CKPT_FLUSH=2 MUR_CKPT_RESTART=none
rm -rf a b c
on_three none "both levels: killed" 137 save=7 die=30:3
[[ $(whole common) == *"app-0 app-2 " ]] || fail "what goes to the prefix: $(ls common)"
export MUR_CKPT_RESTART=latest
rm -rf b
on_three none "both levels: one is lost" 0
is_right "both levels: one is lost" 21
unset MUR_CKPT_PREFIX
MUR_CKPT_RESTART=none MUR_CKPT_LOCAL=$scratch/one MUR_CKPT_REDUNDANCY=xor ends "one host" 1 -n 2 "$steps" 9 save=3
grep -q "there is one host only" err || fail "one host: $(cat err)"
exit 0
