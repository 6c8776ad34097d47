# SPDX-License-Identifier: BSD-3-Clause
# `mpijob serve` for a test. Source it.
#   start_serve OPTION...     starts it on a port of its own, waits until it answers: $server is its process, $KUBECONFIG set
#   kill_serve                kills it with all that it has of its own, but not pods
#   end_serve                 asks it to end, and waits
#   until_true COMMAND...     waits for it, within a minute
#   no_pods_left              no process of a pod is there; pods_of_test [ROLE] lists them
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
data=$scratch/data
server=
mkdir -p "$data"
export KUBECONFIG=$data/kubeconfig
trap 'end_everything' EXIT

end_everything() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
    wait 2>/dev/null
    local pid
    for pid in $(pods_of_test); do kill -9 "$pid" 2>/dev/null; done
    rm -rf "$scratch"
}

"$mpijob" help | grep -q 'mpijob serve' || skip "this mpijob has no serve"
if "$mpijob" serve --listen nowhere 2>&1 | grep -q 'was built without'; then
    skip "mpijob was built without the libraries that the Kubernetes API needs"
fi

until_true() { # COMMAND...
    local i
    for i in $(seq 600); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "waited in vain for: $*: $(cat "$scratch/serve.log")"
}

answers() { grep -q 'serves the API' "$scratch/serve.log" && "$mpijob" get; }

start_serve() { # OPTION...
    : >"$scratch/serve.log"
    PATH=$EXAMPLES:$PATH "$mpijob" serve --listen 127.0.0.1:0 --data "$data" --image host --restart-delay 0.2 "$@" \
        >>"$scratch/serve.log" 2>&1 &
    server=$!
    until_true answers
}

end_serve() {
    kill "$server"
    wait "$server"
    local code=$?
    server=
    [ $code = 0 ] || fail "serve ended with code $code: $(cat "$scratch/serve.log")"
}

kill_serve() {
    kill -9 "$server"
    wait "$server" 2>/dev/null
    server=
}

# Processes in pods of this test, of a role if one is given: the test's folder is in their LD_LIBRARY_PATH.
pods_of_test() { # [launcher|worker]
    local environ
    for environ in $(grep -lz "^K_MPI_JOB_ROLE=${1:-}" /proc/[0-9]*/environ 2>/dev/null); do
        environ=${environ#/proc/}
        { tr '\0' '\n' <"/proc/$environ" | grep -q "^LD_LIBRARY_PATH=$data"; } 2>/dev/null && echo "${environ%/environ}"
    done
}
export LD_LIBRARY_PATH=$data${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # what pods of image host have from the one who started it

no_pods_left() { [ -z "$(pods_of_test)" ]; }
