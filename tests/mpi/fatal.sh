#!/bin/bash
# An error that nobody handles ends the job with exit code 1, and the message says who, where and what: fatal.sh PROGRAM
set -uo pipefail
program=$1

expect() { # ARGUMENT PATTERN
    local output code
    output=$("$program" "$1" 2>&1)
    code=$?
    # shellcheck disable=SC2053
    if [ $code -ne 1 ] || [[ $output != $2 ]]; then
        echo "fatal $1: exit code $code, not 1; or the message is not as expected:"
        echo "$output"
        exit 1
    fi
}
expect before 'Murmur: error (host *, pid *): MPI_Barrier(comm=MPI_COMM_WORLD): called before MPI was initialised: call MPI_Init, MPI_Init_thread or MPI_Session_init first \[MPI_ERR_OTHER\]'
expect running 'Murmur: error on rank 0 of 1 (host *, pid *): MPI_Send(buf=0x*, count=-1, *): count is -1, but must be 0 or more \[MPI_ERR_COUNT\]'
expect after 'Murmur: error (host *, pid *): MPI_Comm_rank(comm=MPI_COMM_WORLD, *): called after MPI_Finalize: make this call before it \[MPI_ERR_OTHER\]'
