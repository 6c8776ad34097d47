# Helpers of the launcher's tests, sourced by each script, which runs alone with MPIEXEC or BUILD in the environment.
# SPDX-License-Identifier: BSD-3-Clause
set -u
BUILD=${BUILD:-$PWD/build}
MPIEXEC=${MPIEXEC:-$BUILD/bin/mpiexec}
HELPERS=${HELPERS:-$BUILD/tests/launch}
PUPPET=$HELPERS/puppet
# What launchers and resource managers may have set around the test.
unset MPIEXEC_TIMEOUT MPI_HOST ${!HYDRA_*} ${!I_MPI_*} ${!OMPI_*} ${!PRTE_*} ${!SLURM*} ${!LSB_*} ${!PBS_*} ${!PE_*} \
    ${!COBALT_*} ${!LOADL_*} MUR_HOSTFILE
DIR=$(mktemp -d)
MARK=launch-test-$$-$RANDOM # ranks get it as MUR_TEST_MARK; so survivors can be found
RUN=("$MPIEXEC" -genv MUR_TEST_MARK "$MARK")
FAILED=0

[ -x "$MPIEXEC" ] || { echo "no mpiexec at $MPIEXEC: set MPIEXEC or BUILD"; exit 1; }
[ -x "$PUPPET" ] || { echo "no test helpers in $HELPERS: set HELPERS or BUILD"; exit 1; }

survivors() { # the processes of this test's jobs
    grep -lz "^MUR_TEST_MARK=$MARK\$" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

clean_up() {
    local left
    left=$(survivors)
    [ -z "$left" ] || kill -9 $left 2>/dev/null
    rm -rf "$DIR"
}
trap clean_up EXIT

fail() { echo "FAILED: $*"; FAILED=1; }
finish() { exit $FAILED; }

same() { # what, expected, seen
    [ "$2" = "$3" ] || fail "$1: expected '$2', saw '$3'"
}

contains() { # what, expected part, text
    case $3 in *"$2"*) ;; *) fail "$1: expected '$2' within '$3'" ;; esac
}

run() { # runs mpiexec; sets CODE and fills $DIR/out and $DIR/err
    timeout -k 5 60 "${RUN[@]}" "$@" >"$DIR/out" 2>"$DIR/err" </dev/null
    CODE=$?
}

code() { # expected exit code, then mpiexec's arguments
    local expected=$1
    shift
    run "$@"
    same "exit code of mpiexec $*" "$expected" "$CODE"
}

until_true() { # waits up to 20 s for a command to succeed
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 1000 ] || { fail "in vain: $*"; return 1; }
        sleep 0.02
    done
}

has_lines() { [ "$(wc -l <"$1" 2>/dev/null || echo 0)" -ge "$2" ]; } # file, count
none_left() { [ -z "$(survivors)" ]; }
some_left() { [ "$(survivors | wc -l)" -ge "$1" ]; }
children_of() { cat "/proc/$1/task/$1/children" 2>/dev/null || ps -o pid= --ppid "$1"; }
guard_of() { # the agent's parent
    local child
    for child in $(children_of "$1"); do [ "$(cat "/proc/$child/comm")" = mur-guard ] && echo "$child"; done
}
agent_of() { children_of "$(guard_of "$1")"; }
