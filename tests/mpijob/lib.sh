# SPDX-License-Identifier: BSD-3-Clause
# Jobs of `mpijob run` on this machine. Source it.
#   write_job NAME [v1] <<END     makes NAME.yaml: a job whose launcher runs the shell text that is read; $spec, $worker and
#                                 $launcher are further lines of the spec, the worker's and launcher's replica specs
#   run NAME OPTION...            runs it: $code, files out, err, status (the MPIJob in the end)
#   condition TYPE                its status and reason in the end, as True/Reason; nothing if it has none
set -u
mpijob=${MPIJOB:?}
scratch=$(mktemp -d)
export XDG_RUNTIME_DIR=$scratch/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
cd "$scratch" || exit 1

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

skip() {
    echo "SKIPPED: $*" >&2
    exit 77
}

# Pods of their own kind: what is said about them without namespaces is told apart by options.sh.
need_namespaces() {
    unshare -n -m -u -i -p -f true 2>/dev/null || unshare -U -r -n -m -u -i -p -f true 2>/dev/null ||
        skip "no namespaces: pods are not tested here"
    command -v ip >/dev/null || skip "no iproute2: pods are not tested here"
}

write_job() {
    local version=v2beta1
    [ "${2:-}" != v1 ] || version=v1
    {
        printf 'apiVersion: kubeflow.org/%s\nkind: MPIJob\nmetadata:\n  name: %s\nspec:\n' "$version" "$1"
        printf '%s\n' "${spec:-}" | sed '/^$/d; s/^/  /'
        printf '  mpiReplicaSpecs:\n    Launcher:\n      replicas: 1\n'
        printf '%s\n' "${launcher:-}" | sed '/^$/d; s/^/      /'
        printf '      template:\n        spec:\n          containers:\n          - name: launcher\n            image: host\n'
        printf '            command: [sh, -c]\n            args:\n            - |\n'
        sed 's/^/              /'
        printf '    Worker:\n      replicas: %s\n' "${workers:-2}"
        printf '%s\n' "${worker:-}" | sed '/^$/d; s/^/      /'
        printf '      template:\n        spec:\n          containers:\n          - name: worker\n            image: host\n'
        printf '%s\n' "${container:-}" | sed '/^$/d; s/^/            /'
    } >"$1.yaml"
}

run() {
    local name=$1
    shift
    timeout 60 "$mpijob" run --set-status status --restart-delay 0.2 "$@" "$name.yaml" >out 2>err
    code=$?
}

condition() {
    python3 -c '
import json, sys
for c in json.load(open("status"))["status"].get("conditions", []):
    if c["type"] == sys.argv[1]:
        print(c["status"] + "/" + c["reason"])' "$1"
}

wants() { # TYPE STATUS/REASON
    [ "$(condition "$1")" = "$2" ] || fail "$1 is $(condition "$1"), not $2: $(cat out err status)"
}

# No process, no folder of a run.
nothing_left() {
    [ -z "$(ls "$XDG_RUNTIME_DIR"/mpijob-*/ | grep -v lock)" ] || fail "left in the folder: $(ls -R "$XDG_RUNTIME_DIR")"
    local left
    left=$(grep -lzE "^K_MPI_JOB_ROLE=|^XDG_RUNTIME_DIR=$scratch" /proc/[0-9]*/environ 2>/dev/null |
        grep -o '[0-9]\+' | while read -r pid; do
            case $(cat "/proc/$pid/comm" 2>/dev/null) in mpijob* | sleep | sshd | mpirun | mpiexec) echo "$pid" ;; esac
        done)
    [ -z "$left" ] || fail "processes are left: $(ps -o pid,args -p "$(echo $left | tr ' ' ,)")"
}
