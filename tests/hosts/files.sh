#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job on three hosts is killed while it writes a file: a rank, an agent, or mpiexec. Nothing is left but the file, no
# process, lock or other file, and the next job opens and writes it again, and a third reads it byte for byte.
. "$(dirname "$0")/lib.sh"
helper=$1
hosts_up 3
mkdir "$scratch/files"
file=$scratch/files/matrix

named() { # host, text: the processes there with such a command line
    local pid
    for pid in $(ip netns pids "$tag-h$1"); do
        tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "$2" && echo "$pid"
    done
}

one_case() { # form, victim
    local what="the form $1, $2 killed" job
    : >"$scratch/out" # here, not when the job's shell comes to it
    run -host h1,h2,h3 -ppn 2 -n 6 "$helper" "$file" 4 1000000 "$1" >"$scratch/out" 2>&1 &
    job=$!
    await "$what: the job's writing" grep -q writing "$scratch/out"
    case $2 in
    rank) kill -9 $(named 2 "^$helper" | tail -1) ;;
    agent) kill -9 $(named 3 "mpiexec.*-agent" | tail -1) ;;
    mpiexec) pkill -9 -P "$job" mpiexec || kill -9 "$job" ;;
    esac
    wait "$job" && fail "$what: code 0"
    nothing_left "$what"
    grep -q ":$(stat -c %i "$file") " /proc/locks && fail "$what: a lock is left"
    timeout 30 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" -host h2,h3 -ppn 2 -n 3 \
        "$helper" "$file" 4 1 "$1" >"$scratch/out" 2>&1
    [ "$(grep -c '^written$' "$scratch/out")" = 3 ] || fail "$what: the next job: $(cat "$scratch/out")"
    if [ "$1" != later ]; then
        timeout 30 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" -host h1,h2 -n 2 \
            "$helper" "$file" 4 3 check >"$scratch/out" 2>&1
        [ "$(grep -c '^written$' "$scratch/out")" = 2 ] || fail "$what: reading: $(cat "$scratch/out")"
    fi
    nothing_left "$what, the jobs after it"
    [ "$(ls -A "$scratch/files")" = matrix ] || fail "$what: in the folder: $(ls -A "$scratch/files")"
}

for form in all sieve locked later; do
    for victim in rank agent mpiexec; do
        one_case $form $victim
    done
done
