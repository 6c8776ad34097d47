# Lists of hosts: jobs on a list that names this machine only, what is refused and how, and the CPUs that ranks get.
# SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/lib.sh"

refuse() { # expected code, expected part of the message, arguments
    local expected=$1 part=$2
    shift 2
    code "$expected" "$@"
    contains "mpiexec $*" "$part" "$(cat "$DIR/err")"
    same "output of mpiexec $*" "" "$(cat "$DIR/out")"
}

ranks() { # expected number of ranks, then mpiexec's arguments
    local expected=$1
    shift
    code 0 "$@" sh -c 'echo $MUR_SIZE'
    same "ranks of mpiexec $*" "$expected $expected" "$(uniq -c "$DIR/out" | awk '{print $1, $2}')"
}

me=$(hostname)
ranks 2 -host "$me:2"
ranks 3 -host localhost,127.0.0.1,"$me"
ranks 4 -hosts 2 localhost 3 127.0.0.1 1
ranks 5 -n 5 -host localhost
ranks 3 -ppn 3 -host localhost
ranks 1 -localonly -host elsewhere
printf '# ours\n\nlocalhost slots=2\n%s:1\n' "$me" >"$DIR/hosts"
for option in -f -hostfile --hostfile -machinefile; do
    ranks 3 $option "$DIR/hosts"
done
ranks 3 --hostfile="$DIR/hosts" -nooversubscribe
HYDRA_HOST_FILE=$DIR/hosts ranks 3
HYDRA_HOST_FILE=$DIR/hosts ranks 1 -host localhost
OMPI_MCA_orte_default_hostfile=$DIR/hosts ranks 3
I_MPI_HYDRA_HOST_FILE=$DIR/hosts I_MPI_PERHOST=2 ranks 2
printf 'localhost\nlocalhost\nlocalhost\n' >"$DIR/nodes"
PBS_NODEFILE=$DIR/nodes ranks 3
PBS_NODEFILE=$DIR/nodes ranks 1 -rmk none
printf 'localhost 2 queue UNDEFINED\n' >"$DIR/nodes"
PE_HOSTFILE=$DIR/nodes ranks 2
LSB_MCPU_HOSTS="localhost 4" ranks 4
SLURM_JOB_NODELIST=$me SLURM_TASKS_PER_NODE=2 ranks 2

refuse 2 "there are 3 slots on 1 host (from $DIR/hosts)" -nooversubscribe -n 4 -f "$DIR/hosts" true
refuse 2 "line 4" -f <(printf '\n\n\nlocalhost cores=2\n') true
refuse 2 "cannot read '$DIR/none'" -f "$DIR/none" true
refuse 2 "names no host" -f /dev/null true
refuse 2 "no hosts are listed" -nolocal true
refuse 2 "not 'moon'" -map-by moon true
refuse 2 "wants none, hwthread, core" -bind-to moon true
refuse 2 "wants a port" -launcher-port 0 true
SLURM_JOB_NODELIST='n[1' refuse 2 "SLURM_JOB_NODELIST: 'n[1'" true

code 0 -host "$me:2,localhost:1" -display-map true
contains "the map" "$me runs rank 0-2" "$(cat "$DIR/err")"
code 2 -topolib hwloc -n 2 -nooversubscribe -host localhost true
contains "ignored with a note" "nothing here needs it: -topolib hwloc" "$(cat "$DIR/err")"

# Of three ranges in a name only Slurm knows the order.
mkdir "$DIR/bin"
printf '#!/bin/sh\n[ "$1 $2 $3" = "show hostnames a[1-2]b[1-2]c[1-2]" ] || exit 1\n%s\n' \
    'for h in a1b1c1 a2b1c1 a1b2c1 a2b2c1 a1b1c2 a2b1c2 a1b2c2 a2b2c2; do echo $h; done' >"$DIR/bin/scontrol"
chmod +x "$DIR/bin/scontrol"
export SLURM_JOB_NODELIST='a[1-2]b[1-2]c[1-2]' SLURM_TASKS_PER_NODE='1,3,1(x6)'
PATH=$DIR/bin:$PATH run -display-map true
contains "Slurm's order" "a2b1c1 runs rank 1-3" "$(cat "$DIR/err")"
printf '#!/bin/sh\nexit 1\n' >"$DIR/bin/scontrol"
PATH=$DIR/bin:$PATH refuse 2 "scontrol show hostnames" true
unset SLURM_JOB_NODELIST SLURM_TASKS_PER_NODE

# Binding, here and on machines that hwloc makes up.
cpus='sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status'
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$first" "${RUN[@]}" -n 2 -bind-to core -report-bindings sh -c "$cpus" >"$DIR/out" 2>"$DIR/err"
same "CPUs within our own" "$first;$first;" "$(tr '\n' ';' <"$DIR/out")"
contains "the report" "rank 1 on $me is bound to CPU $first" "$(cat "$DIR/err")"
contains "the note" "2 ranks with 1 core each share the 1 of $me" "$(cat "$DIR/err")"
code 0 -n 2 -bind-to user:"$first" sh -c "$cpus"
same "CPUs of a list" "$first;$first;" "$(tr '\n' ';' <"$DIR/out")"
refuse 1 "but this process may use" -bind-to user:1023 true
refuse 1 "has no l5cache to bind ranks to" -bind-to l5cache true
RUN=(taskset -c 0,1 "${RUN[@]}")
export HWLOC_SYNTHETIC="pack:1 l5:1 core:1 pu:1"
if [ "$(taskset -c 0,1 sh -c "$cpus")" = 0-1 ] && "${RUN[@]}" -bind-to l5cache true 2>/dev/null; then
    HWLOC_SYNTHETIC="pack:2 core:1 pu:1"
    code 0 -n 3 -bind-to socket sh -c "$cpus"
    same "sockets in turn" "0;0;1;" "$(sort "$DIR/out" | tr '\n' ';')"
    refuse 2 "1 for each socket are 2 on 1 host" -npersocket 1 -n 3 true
    ranks 4 -map-by ppr:2:socket
fi
finish
