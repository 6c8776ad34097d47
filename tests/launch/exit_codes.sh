# The job's exit code, which failures end the job, and the one message that then comes last.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

last() { tail -n 1 "$DIR/err"; }

# Code 0 is no failure; ranks without MPI end when they like.
code 0 -n 4 true
same "message" "" "$(cat "$DIR/err")"
code 0 -n 3 sh -c '[ $MUR_RANK = 1 ] || sleep 0.2; echo on'
same "others" "on on on" "$(xargs <"$DIR/out")"

# Any other code ends the job, without MPI, before it or after it; a job of one rank needs no words for it.
code 1 -n 1 false
same "message" "" "$(cat "$DIR/err")"
code 5 -n 3 sh -c '[ "$PMI_RANK" = 1 ] && exit 5; sleep 60'
contains "message" "rank 1 on $(hostname) (pid " "$(last)"
contains "message" "exited with code 5; 2 other ranks were ended" "$(last)"
same "lines" 1 "$(wc -l <"$DIR/err")"
code 7 -n 2 "$PUPPET" init finalized 1/exit:7 wait
contains "message" "exited with code 7; 1 other rank was ended" "$(last)"

# Where the job is to keep going, the code of the first rank that failed is the job's; it is of no rank in MPI.
mkfifo "$DIR/go"
for option in -continue-on-failure -disable-auto-cleanup "-mca orte_abort_on_non_zero_status 0"; do
    code 3 $option -n 3 sh -c 'case $MUR_RANK in 0) exit 3;; 1) :;; 2) sleep 0.1; echo went on;; esac'
    same "others" "went on" "$(cat "$DIR/out")"
    same "message" "" "$(cat "$DIR/err")"
done
code 0 -mca orte_abort_on_non_zero_status 1 -n 1 true
code 2 -mca orte_abort_on_non_zero_status maybe -n 1 true
OMPI_MCA_orte_abort_on_non_zero_status=0 code 7 -n 2 "$PUPPET" init finalized 1/exit:7 0/nap:100 line:on
same "others" "on" "$(cat "$DIR/out")"
code 137 -continue-on-failure -n 2 "$PUPPET" 1/kill:9 nap:100 line:on
same "others" "on" "$(cat "$DIR/out")"
code 137 -continue-on-failure -n 2 "$PUPPET" init 1/kill:9 wait
contains "message" "rank 1 on $(hostname)" "$(last)"
# Rank 0 is the first to fail: rank 1 waits until the agent has buried it.
code 4 -continue-on-failure -n 2 sh -c 'if [ $MUR_RANK = 0 ]; then echo $$ >"$1"; exit 4; fi
    read -r pid <"$1"; while kill -0 "$pid" 2>"$1.err"; do :; done; exit 5' sh "$DIR/go"
same "message" "" "$(cat "$DIR/err")"

# A rank that ends before MPI_Init while another one is in MPI ends the job, whoever is first.
code 1 -n 2 "$PUPPET" 0/init 0/wait
contains "message" "rank 1 on $(hostname)" "$(last)"
contains "message" "exited with code 0 without MPI_Init, and rank 0, which is in MPI, would wait" "$(last)"
code 1 -n 2 "$PUPPET" 0/nap:200 0/init 0/wait
contains "message" "exited with code 0 without MPI_Init" "$(last)"
code 0 -n 2 "$PUPPET" 0/init 0/finalized 1/nap:200
code 1 -n 2 sh -c '"$0" init finalized; [ $MUR_RANK = 1 ] || "$0" init:1 wait' "$PUPPET"
contains "message" "exited with code 0 after 1 MPI program, and rank 0, which is in its 2nd, would wait" "$(last)"

# An MPI program that dies while its script goes on ends the job, with that program's code.
code 3 -n 3 sh -c '"$0" init 1/exit:3 wait; sleep 60' "$PUPPET"
contains "message" "rank 1 on $(hostname)" "$(last)"
contains "message" "exited with code 3 before MPI_Finalize; 2 other ranks were ended" "$(last)"
code 1 -n 3 sh -c '"$0" init 1/exit:0 wait; sleep 60' "$PUPPET"
contains "message" "exited with code 0 before MPI_Finalize" "$(last)"
code 139 -n 3 sh -c '"$0" init 2/kill:11 wait; sleep 60' "$PUPPET"
contains "message" "rank 2 on $(hostname)" "$(last)"
contains "message" "killed by signal 11" "$(last)"
code 0 -n 3 sh -c '"$0" init finalized exit:3; sleep 0.1' "$PUPPET"

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
