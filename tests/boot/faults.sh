#!/bin/bash
# A rank of an MPI program fails: the job ends soon, with the right code and one message that names the rank, and no
# process of it is left.
set -u
fails=0
marker=MURMUR_FAULT_TEST=$$-$RANDOM

run() { # HOW WHEN WANTED-CODE WANTED-TEXT
    local output code start=$SECONDS left
    output=$(env "$marker" timeout 20 "$MPIEXEC" -n 3 "$BUILD/tests/boot/boot-victim" "$1" "$2" 2>&1)
    code=$?
    left=$(grep -lzs "^$marker\$" /proc/[0-9]*/environ | wc -l)
    if [ $code -ne "$3" ] || [[ $output != *"$4"* ]] || [ "$left" -ne 0 ] || [ $((SECONDS - start)) -gt 10 ]; then
        echo "failed: $1 $2: exit code $code (wanted $3), $left processes left, it said: $output (wanted: $4)"
        fails=1
    fi
}

for when in start barrier transfer collective; do
    run segv $when 139 "rank 1"
    run kill $when 137 "rank 1"
    run exit0 $when 1 "rank 1"
    run exit3 $when 3 "rank 1"
    run abort $when 5 "rank 1"
    run error $when 1 "MPI_Send(buf="
done
exit $fails
