# Contexts, the ranks' environment and working directory, what a rank inherits, and an mpiexec inside a rank.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

sorted() { sort "$DIR/out" | tr '\n' ';'; }

who='echo $MUR_RANK/$MUR_SIZE $MUR_APPNUM $0'
code 0 -n 2 sh -c "$who" a : --np=1 sh -c "$who" b
same "ranks of contexts" "0/3 0 a;1/3 0 a;2/3 1 b;" "$(sorted)"

code 0 -genv G 1 -n 1 -env A 'x y' sh -c 'echo $G/$A/$B' : \
    -x B=1,2 --allow-run-as-root -genv=H=2 sh -c 'echo $G/$A/$B/$H'
same "variables" "1//1,2/2;1/x y/;" "$(sorted)"
KEPT=1 MUR_SETTING=2 PMI_FD=7 PMIX_SERVER_URI2=x MUR_RANK=5 run -oversubscribe -x KEPT,HOME -env MUR_SIZE 9 \
    sh -c 'echo $KEPT/$MUR_SETTING/$([ "$PMI_FD" = 7 ] && echo old)/$PMIX_SERVER_URI2/$MUR_RANK/$MUR_SIZE'
same "what is passed on and what is not" "1/2///0/1;" "$(sorted)"

names="OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE
OMPI_COMM_WORLD_NODE_RANK OMPI_UNIVERSE_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS MV2_COMM_WORLD_RANK
MV2_COMM_WORLD_SIZE MV2_COMM_WORLD_LOCAL_RANK MV2_COMM_WORLD_LOCAL_SIZE MUR_JOB_PROTOCOL"
code 0 -usize 2 -n 2 sh -c 'for n in '"$(echo $names)"'; do eval echo -n \$$n,; done; echo'
same "variables of other MPIs" "0,2,0,2,0,2,0,2,0,2,0,2,7,;1,2,1,2,1,2,1,2,1,2,1,2,7,;" "$(sorted)"

mkdir "$DIR/there"
printf 'echo here $PWD "$@"\n' >"$DIR/there/script" # no #!: the shell runs it
chmod +x "$DIR/there/script"
code 0 -wdir "$DIR/there" ./script 'a b' c : -wd "$DIR" there/script
same "directories" "here $DIR;here $DIR/there a b c;" "$(sorted)"

code 0 "$PUPPET" descriptors 5</dev/null
contains "an inherited descriptor" "5;" "$(sorted)"
for fd in /proc/$$/fd/*; do # what the test itself inherited would be passed on, rightly
    fd=${fd##*/}
    [ "$fd" -le 2 ] || [ "$fd" -eq 255 ] || eval "exec $fd>&-" # 255 is bash's own, close-on-exec
done
code 0 -n 3 "$PUPPET" descriptors
same "descriptors" "0;0;0;1;1;1;2;2;2;control;control;control;life;life;life;node;node;node;pmi;pmi;pmi;" "$(sorted)"
(
    ulimit -S -n 100
    code 0 -n 40 sh -c 'ulimit -S -n'
    same "limit of files" 100 "$(sort -u "$DIR/out")"
    exit $FAILED
) || FAILED=1
(
    trap '' USR1 TERM PIPE
    code 0 "$PUPPET" signals
    same "signal state" "odd 0 tied 9 leader 1" "$(cat "$DIR/out")"
    exit $FAILED
) || FAILED=1
code 0 -n 3 "$PUPPET" node
same "the node's memory" "shared;shared;shared;" "$(sorted)"

code 0 -n 2 sh -c '"$@" -n 2 sh -c "echo \$MUR_RANK/\$MUR_SIZE"; echo $MUR_RANK/$MUR_SIZE' sh "${RUN[@]}"
same "a job in each rank" "0/2;0/2;0/2;1/2;1/2;1/2;" "$(sorted)"

code 0 -n 256 true
code 0 -verbose -n 2 sh -c 'echo pid $$'
contains "verbose" "2 ranks on $(hostname)" "$(cat "$DIR/err")"
for pid in $(sed -n 's/^pid //p' "$DIR/out"); do
    contains "verbose" "runs as pid $pid" "$(cat "$DIR/err")"
done
code 0 -verbose -n 1 sh -c 'echo "$MUR_COLL_VERBOSE"'
same "collectives under -verbose" 1 "$(cat "$DIR/out")"
code 0 -verbose -n 1 -env MUR_COLL_VERBOSE 0 sh -c 'echo "$MUR_COLL_VERBOSE"'
same "... unless the user says otherwise" 0 "$(cat "$DIR/out")"
finish
