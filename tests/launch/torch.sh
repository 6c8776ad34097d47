#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What mpiexec -torch tells the ranks, and that other jobs are not told; with PyTorch itself, where it can be imported, a
# sum by its own means: torch.sh MPIEXEC.
set -u
mpiexec=$1
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT
# shellcheck disable=SC2016
told='echo "$RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $MASTER_ADDR ${MASTER_PORT:-none}"'
seen=$(timeout 60 "$mpiexec" -torch -n 3 sh -c "$told" | sort)
port=$(head -1 <<<"$seen")
port=${port##* }
[[ $port =~ ^[0-9]+$ ]] || fail "a port: $seen"
wanted=$(for rank in 0 1 2; do echo "$rank/3 $rank/3 127.0.0.1 $port"; done)
[ "$seen" = "$wanted" ] || fail "expected '$wanted', got '$seen'"
seen=$(RANK=7 timeout 60 "$mpiexec" -torch -n 1 sh -c "$told")
[[ $seen == 0/1* ]] || fail "an outer RANK came through: $seen"
seen=$(MASTER_ADDR=there MASTER_PORT=1234 timeout 60 "$mpiexec" -torch -n 1 sh -c "$told")
[ "$seen" = "0/1 0/1 there 1234" ] || fail "the user's place to meet: $seen"
seen=$(RANK=7 timeout 60 "$mpiexec" -n 1 sh -c "$told")
[ "$seen" = "7/ /  none" ] || fail "without -torch: '$seen'"

if python3 -c 'import torch.distributed' 2>/dev/null; then
    sum='import torch, torch.distributed as d; d.init_process_group("gloo"); x = torch.ones(1); d.all_reduce(x); print(int(x))'
    seen=$(timeout 120 "$mpiexec" -torch -n 2 python3 -c "$sum" | sort -u)
    [ "$seen" = 2 ] || fail "PyTorch's sum: $seen"
else
    echo "PyTorch is not there: only what the ranks are told was tested"
fi
exit $failed
