#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# More connections than open files: the soft limit is raised as far as it is needed, and where the hard one is reached
# the job ends with a text that names it. crowd.sh MPIEXEC PROGRAM
set -u
mpiexec=$1 program=$2 failed=0
export MUR_TRANSPORT=tcp
fail() { echo "FAILED: $*"; failed=1; }

output=$(timeout 60 "$mpiexec" -n 40 sh -c 'ulimit -Sn 30; exec "$0"' "$program" 2>&1) ||
    fail "with a soft limit of 30 open files: exit code $?, it said: $output"

# A program that the rank starts has room for no fewer files of its own, and not for very many more.
limit=$("$mpiexec" -n 2 sh -c 'ulimit -Sn 200; exec "$0" limit' "$program" 2>/dev/null | sort -u)
[[ $limit =~ ^[0-9]+$ && $limit -ge 200 && $limit -le 400 ]] || fail "children of ranks have the limit '$limit'"

output=$(timeout 60 "$mpiexec" -n 40 sh -c 'ulimit -n 30; exec "$0"' "$program" 2>&1)
code=$?
[[ $code -eq 1 && $output == *"limit of 30 open files"*"ulimit -Hn"* ]] ||
    fail "with a hard limit of 30 open files: exit code $code, it said: $output"
exit $failed
