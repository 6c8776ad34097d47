#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank fails: the job ends soon, with the right code and one message that names the cause as its last line, and no
# process of it is left. The rank fails before, in and after MPI, as a program and within a script that goes on, in the
# script's first and second program. TIMES=1 prints how long each end took.
set -u
fails=0
marker=MURMUR_FAULT_TEST=$$-$RANDOM
victim=$BUILD/tests/boot/boot-victim

check() { # NAME WANTED-CODE WANTED-TEXT, which the last line holds; then what the ranks run
    local name=$1 wanted=$2 text=$3 output code start=$EPOCHREALTIME left took
    shift 3
    output=$(env "$marker" timeout 40 "$MPIEXEC" -n 3 "$@" 2>&1)
    code=$?
    took=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
    left=$(grep -lzs "^$marker\$" /proc/[0-9]*/environ | wc -l)
    [ -z "${TIMES:-}" ] || echo "$took ms: $name"
    # Well below the 60 s that the other ranks would wait, and the machine may be busy.
    if [ $code -ne "$wanted" ] || [[ ${output##*$'\n'} != *"$text"* ]] || [ "$left" -ne 0 ] || [ $took -gt 20000 ]; then
        echo "failed: $name: exit code $code (wanted $wanted), $left processes left, $took ms, it said: $output" \
            "(wanted as last line: $text)"
        fails=1
    fi
}

ends() { # HOW WHEN CODE TEXT: as a program, in a script that goes on, and as the second program of such a script
    check "$1 $2" "$3" "$4" "$victim" "$1" "$2"
    check "$1 $2 in a script" "$3" "$4" sh -c "$victim $1 $2; [ \$PMI_RANK != 1 ] || sleep 60"
    check "$1 $2 in a script's second" "$3" "$4" \
        sh -c "$victim fine start; $victim $1 $2; [ \$PMI_RANK != 1 ] || sleep 60"
}

for when in start barrier transfer collective finalize; do
    ends segv $when 139 "rank 1 on"
    ends kill $when 137 "rank 1 on"
    ends exit0 $when 1 "exited with code 0 before MPI_Finalize"
    ends exit3 $when 3 "exited with code 3 before MPI_Finalize"
    ends quit3 $when 3 "exited with code 3 before MPI_Finalize"
    ends abort $when 5 "rank 1 on"
    ends raise $when 134 "SIGABRT"
    ends exec $when 127 "exited with code 127 before MPI_Finalize"
done
ends segv session 139 "rank 1 on"
ends exit3 session 3 "exited with code 3 before MPI_Finalize"
ends error start 1 "rank 1 on"
for when in before after; do
    check "segv $when" 139 "rank 1 on" "$victim" segv $when
    check "kill $when" 137 "rank 1 on" "$victim" kill $when
    check "exit3 $when" 3 "exited with code 3" "$victim" exit3 $when
    check "raise $when" 134 "SIGABRT" "$victim" raise $when
    check "exec $when" 127 "exited with code 127" "$victim" exec $when
    check "exit3 $when in a script" 3 "exited with code 3" sh -c "$victim exit3 $when"
done
check "exit0 before" 1 "exited with code 0 without MPI_Init" "$victim" exit0 before
check "exit0 before in a script" 1 "exited with code 0 without MPI_Init" sh -c "$victim exit0 before"
check "exit0 in the second program before MPI" 1 "after 1 MPI program" sh -c "$victim fine start; $victim exit0 before"
check "a script without MPI" 1 "without MPI_Init" sh -c "[ \$PMI_RANK = 1 ] || $victim fine start"
check "a script without a second program" 1 "after 1 MPI program" \
    sh -c "$victim fine start; [ \$PMI_RANK = 1 ] || $victim fine start"
check "a program that is not there" 127 "" sh -c 'PATH=/usr/bin:/bin; [ $PMI_RANK != 1 ] || exec nothing; sleep 60'
check "a script that fails first" 5 "exited with code 5" sh -c '[ $PMI_RANK = 1 ] && exit 5; sleep 60'
check "a script that dies" 143 "SIGTERM" sh -c '[ $PMI_RANK = 1 ] && kill $$; sleep 60'
check "a program started in MPI" 0 "was started by one that is in MPI itself" \
    "$BUILD/tests/boot/boot-within" "$victim" fine barrier
check "two programs at once" 1 "aborted the job" sh -c "$victim fine start & $victim fine start; wait"

exit $fails
