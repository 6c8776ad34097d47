#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are scripts, which run two to five MPI programs in turn (turn.c), with one rank that is late now and then:
# each program must find the same program of the others. Over shared memory and TCP: turns.sh RUNS; across hosts
# (network namespaces): turns.sh RUNS hosts. The seed is printed; MUR_TEST_SEED repeats one.
runs=${1:-6}
. "$(dirname "$0")/../hosts/lib.sh"
RANDOM=${MUR_TEST_SEED:-1}
echo "seed ${MUR_TEST_SEED:-1}"
[ "${2:-}" != hosts ] || hosts_up 3

for ((i = 0; i < runs; i++)); do
    programs=$((2 + RANDOM % 4)) ranks=$((2 + RANDOM % 7)) late=$((RANDOM % 8)) seed=$RANDOM
    settings=$((RANDOM % 3))
    where=()
    case ${2:-} in
    hosts) where=(-launcher-exec "$scratch/rsh" -host "$hosts" -map-by node) ;;
    *) [ $settings = 0 ] && where=(-env MUR_TRANSPORT tcp) ;;
    esac
    into=()
    [ "${2:-}" != hosts ] || into=(ip netns exec "$tag-h0")
    # The last one takes the script's place, and the first one's end is followed by an MPI program at once.
    script="for i in \$(seq $((programs - 1))); do [ \$MUR_RANK != $late ] || sleep 0.0$((RANDOM % 9));
        '$BIN/boot-turn' \$i '$scratch/file.'\$i || exit; done; exec '$BIN/boot-turn' $programs '$scratch/last'"
    MUR_TEST_SEED=$seed timeout 60 "${into[@]}" "$mpiexec" "${where[@]}" -genv MUR_TEST_SEED $seed -n $ranks \
        sh -c "$script" >"$scratch/out" 2>&1 || fail "run $i: $programs programs on $ranks ranks, rank $late late," \
        "MUR_TEST_SEED=$seed, settings ${where[*]}: code $?: $(tail -5 "$scratch/out")"
    rm -f "$scratch"/file.* "$scratch/last"
done
exit 0
