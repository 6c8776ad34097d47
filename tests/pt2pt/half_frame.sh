#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A frame that claims more bytes than follow: the job ends with a word about it.
#   half_frame.sh MPIEXEC PROGRAM
ends() { # mpiexec, program, its arguments, what is said
    local output code
    output=$(MUR_TCP_TIMEOUT=1 MUR_TRANSPORT=tcp timeout 40 "$1" -timeout 30 -n 2 "$2" $3 2>&1 </dev/null)
    code=$?
    [[ $code = 1 && $output == *"$4"* && $output != *" on ;"* ]] || { echo "FAILED: $3: code $code: $output"; exit 1; }
}
for size in 100 4000 50000 400000; do
    ends "$1" "$2" $size "rank 0 on $(hostname) received a frame whose rest never came from rank 1 on "
done
ends "$1" "$2" beside "bytes, of"
for more in 1 64 5000; do
    ends "$1" "$2" "piece $more" "that cannot be (kind 3, $((100000 + more)) bytes)"
done
