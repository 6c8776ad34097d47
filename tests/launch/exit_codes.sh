# The job's exit code, which failures end the job, and the one message that then comes last.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

last() { tail -n 1 "$DIR/err"; }

# Without MPI, or after MPI_Finalize, a code is the rank's own affair.
code 0 -n 4 true
code 1 -n 2 false
same "message" "" "$(cat "$DIR/err")"
mkfifo "$DIR/go"
code 3 -n 3 sh -c 'case $MUR_RANK in 0) exit 3;; 1) :;; 2) echo went on;; esac'
same "others" "went on" "$(cat "$DIR/out")"
code 7 -n 2 "$PUPPET" init finalized 1/exit:7 line:on
same "others" "on" "$(cat "$DIR/out")"
# Rank 0 is the first to fail: rank 1 waits until the agent has buried it.
code 4 -n 2 sh -c 'if [ $MUR_RANK = 0 ]; then echo $$ >"$1"; exit 4; fi
    read -r pid <"$1"; while kill -0 "$pid" 2>"$1.err"; do :; done; exit 5' sh "$DIR/go"
same "message" "" "$(cat "$DIR/err")"

# A signal ends the job, with MPI or without.
for signal in 9:KILL 11:SEGV 6:ABRT; do
    code $((128 + ${signal%:*})) -n 4 "$PUPPET" 2/kill:${signal%:*} wait
    contains "message" "rank 2 on $(hostname) (pid " "$(last)"
    contains "message" "killed by signal ${signal%:*} (SIG${signal#*:}" "$(last)"
    contains "message" "; 3 other ranks were ended" "$(last)"
    same "lines" 1 "$(wc -l <"$DIR/err")"
done
code 139 -n 3 "$PUPPET" init 1/kill:11 wait
code 138 -n 2 "$PUPPET" 0/kill:10 ignore:15 wait # the others get SIGKILL when they do not care for SIGTERM

# An exit between MPI_Init and MPI_Finalize ends the job.
code 5 -n 3 "$PUPPET" init 1/exit:5 wait
contains "message" "rank 1 on" "$(last)"
contains "message" "exited with code 5 before MPI_Finalize; 2 other ranks were ended" "$(last)"
code 1 -n 2 "$PUPPET" init 0/exit:0 wait
contains "message" "code 0 before MPI_Finalize; 1 other rank was ended" "$(last)"
code 1 -n 1 "$PUPPET" init
code 0 -n 2 "$PUPPET" init finalized
code 0 -n 2 "$PUPPET" junk

# MPI_Abort.
code 42 -n 4 "$PUPPET" init 3/abort:42:'first line
second line' wait
same "abort's text" "first line
second line" "$(head -n 2 "$DIR/err")"
contains "message" "rank 3 on" "$(last)"
contains "message" "aborted the job with code 42; 3 other ranks were ended" "$(last)"
code 0 -n 2 "$PUPPET" init 0/abort:0: wait
code 1 -n 2 "$PUPPET" init 0/abort:256: wait
code 255 -n 2 "$PUPPET" init 0/abort:-1: wait
code 9 -n 2 "$PUPPET" init 0/abort:9:bye 0/exit:1 wait
contains "message" "aborted the job with code 9" "$(last)"

# The message comes after all that the ranks wrote.
code 134 -n 8 "$PUPPET" error:mine flood:200 3/kill:6 wait
contains "message" "rank 3 on" "$(last)"

# A failure that comes with the very end of the job is reported like any other.
for ((i = 0; i < 50; i++)); do
    code 139 "$PUPPET" kill:11
    contains "message" "rank 0 on" "$(last)"
done

# The time limit.
code 124 -timeout 0.2 -n 2 "$PUPPET" ignore:15 wait
contains "message" "time limit of 0.2 s" "$(last)"
export MPIEXEC_TIMEOUT=0.2
code 124 "$PUPPET" wait
code 0 -timeout 60 true
until_true none_left
finish
