#!/bin/sh
# Starts two jobs that meet: two_jobs.sh MPIEXEC PROGRAM SERVERS CLIENTS ROUNDS
mpiexec=$1 program=$2 servers=$3 clients=$4 rounds=$5
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
timeout 100 "$mpiexec" -n "$servers" "$program" server "$directory/port" "$rounds" &
server=$!
timeout 100 "$mpiexec" -n "$clients" "$program" client "$directory/port" "$rounds"
code=$?
wait $server || code=$?
exit $code
