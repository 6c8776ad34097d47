# Bad command lines and programs: a message that names the culprit, the shell's exit codes, and nothing started.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

refuse() { # expected code, expected part of the message, arguments
    local expected=$1 part=$2
    shift 2
    code "$expected" "$@"
    contains "mpiexec $*" "$part" "$(cat "$DIR/err")"
    same "lines for mpiexec $*" 1 "$(wc -l <"$DIR/err")"
    same "output of mpiexec $*" "" "$(cat "$DIR/out")"
}

refuse 2 "not '0'" -n 0 true
refuse 2 "not 'x'" -n x true
refuse 2 "not '-3'" -n -3 true
refuse 2 "not '4x'" -np=4x true
refuse 2 "not '99999999999999999999'" -n 99999999999999999999 true
refuse 2 "given twice" -n 2 -np 3 true
refuse 2 "no program" -n 2
refuse 2 "part 2" -n 2 true : -n 1
refuse 2 "part 1" : true
refuse 2 "-n wants" -n
refuse 2 "unknown option -frobnicate" -frobnicate true
refuse 2 "did you mean -timeout" --tiemout 3 true
refuse 2 "unknown option ---n" ---n 2 true
refuse 2 "takes no value" -l=3 true
refuse 2 "wants a value" -env A
refuse 2 "mixes" -x A,B=3 true
refuse 2 "not 'soon'" -timeout soon true
MPIEXEC_TIMEOUT=never refuse 2 "MPIEXEC_TIMEOUT" true

touch "$DIR/plain"
refuse 127 "no program 'no-such-program' in PATH" no-such-program
refuse 127 "'./no-such-program'" ./no-such-program
refuse 126 "is a directory" "$DIR"
refuse 127 "-wdir, '$DIR/absent'" -wdir "$DIR/absent" true
refuse 126 "'$DIR/plain' is not executable" "$DIR/plain"
refuse 127 "no program 'no-such-program'" -n 2 true : no-such-program
printf '#!/no/such/interpreter\n' >"$DIR/bad"
chmod +x "$DIR/bad"
refuse 127 "interpreter" -n 2 "$DIR/bad"

refuse 1 "start fewer ranks" -n 10000000 true
(ulimit -n 64 && refuse 1 "ulimit -Hn" -n 64 true; exit $FAILED) || FAILED=1
(ulimit -f 1 && refuse 1 "ulimit -f" -n 1 true; exit $FAILED) || FAILED=1

refuse 2 "no such topic" -help frobnication
code 0 -help
contains "help" "Topics" "$(cat "$DIR/out")"
code 0 -help all
contains "help" "-prepend-rank" "$(cat "$DIR/out")"
code 0 --version
contains "version" "Murmur" "$(cat "$DIR/out")"
finish
