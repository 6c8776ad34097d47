#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank whose connection carries garbage: the job ends with a word about it, or well, but no rank crashes or hangs.
#   garbage.sh MPIEXEC PROGRAM RUNS
first=${MUR_TEST_SEED:-1}
echo "seeds from $first"
refused=0
for seed in $(seq "$first" $((first + $3 - 1))); do
    output=$(MUR_TRANSPORT=tcp timeout 20 "$1" -timeout 10 -n 2 "$2" "$seed" 2>&1 </dev/null)
    code=$?
    case $output in
    *"killed by signal"* | *"time limit"* | *rror:*anitizer*) echo "FAILED: seed $seed: code $code: $output"; exit 1 ;;
    *"the same?"*) refused=$((refused + 1)) ;;
    *) [ $code = 0 ] || { echo "FAILED: seed $seed: code $code: $output"; exit 1; } ;;
    esac
done
echo "$refused of $3 runs were refused with a word"
[ $refused -gt 0 ]
