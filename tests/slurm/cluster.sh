# A Slurm cluster of its own on this host: sourced by tests, `cluster_start` starts munged, slurmctld and NODES slurmds
# on loopback in the folder $CLUSTER, all with their own keys, sockets and ports, and `cluster_stop` (run at exit) ends
# them. Needs root, and Debian's munge, slurmctld, slurmd and slurm-client (tools/deps test installs them).
# SPDX-License-Identifier: BSD-3-Clause
CLUSTER=$(mktemp -d /tmp/cluster-XXXXXX)
NODES=${NODES:-4}
BASE_PORT=$((20000 + RANDOM % 8000))
DAEMONS=()
unset "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" 2>/dev/null
export SLURM_CONF=$CLUSTER/slurm.conf

cluster_missing() { # what is missing to start one; nothing when all is there
    local program
    [ "$(id -u)" -eq 0 ] || echo "root"
    for program in munged slurmctld slurmd srun; do
        command -v $program >/dev/null || echo "$program"
    done
    getent hosts "$(uname -n)" >/dev/null || echo "an address of $(uname -n) (in /etc/hosts)"
}

cluster_log() { tail -n 15 "$CLUSTER"/*.log 2>/dev/null; }

cluster_stop() {
    local pid
    [ ${#DAEMONS[@]} -eq 0 ] || kill "${DAEMONS[@]}" 2>/dev/null
    for pid in "${DAEMONS[@]}"; do
        for _ in $(seq 100); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.05
        done
        kill -9 "$pid" 2>/dev/null
    done
    # Steps of the cluster outlive its daemons.
    for pid in $(grep -lzs "^SLURM_CONF=$SLURM_CONF\$" /proc/[0-9]*/environ | cut -d/ -f3); do
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || kill -9 "$pid" 2>/dev/null
    done
    wait 2>/dev/null
    umount -l "$CLUSTER"/spool* 2>/dev/null
    rm -rf "$CLUSTER"
}

cluster_start() {
    local host port
    host=$(hostname -s)
    for port in $(seq "$BASE_PORT" $((BASE_PORT + NODES))); do # another cluster of this host may have one
        ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { BASE_PORT=$((BASE_PORT + 100)) && break; }
    done
    chmod 755 "$CLUSTER"
    mkdir -m 755 "$CLUSTER/munge" "$CLUSTER/state" "$CLUSTER/pmix"
    head -c 64 /dev/urandom >"$CLUSTER/munge/key"
    chmod 600 "$CLUSTER/munge/key"
    munged --force --foreground --key-file="$CLUSTER/munge/key" --socket="$CLUSTER/munge/socket" \
        --pid-file="$CLUSTER/munge/pid" --log-file="$CLUSTER/munge/log" --seed-file="$CLUSTER/munge/seed" \
        --num-threads=1 >"$CLUSTER/munged.log" 2>&1 &
    DAEMONS+=($!)
    cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$CLUSTER/munge/socket
SlurmctldPort=$BASE_PORT
StateSaveLocation=$CLUSTER/state
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmctldLogFile=$CLUSTER/slurmctld.log
SlurmdPidFile=$CLUSTER/slurmd-%n.pid
SlurmdLogFile=$CLUSTER/slurmd-%n.log
SlurmdSpoolDir=$CLUSTER/spool-%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=30
KillWait=2
NodeName=n[1-$NODES] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((BASE_PORT + 1))-$((BASE_PORT + NODES))] CPUs=2
PartitionName=test Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=YES
CONF
    echo "PMIxCliTmpDirBase=$CLUSTER/pmix" >"$CLUSTER/mpi.conf"
    slurmctld -D >/dev/null 2>&1 &
    DAEMONS+=($!)
    # Each slurmd in its own mount namespace, with a folder for PMIx that no other has: steps of one job on several
    # slurmds of one host would take the same.
    for node in $(seq "$NODES"); do
        unshare -m bash -c "mount -t tmpfs none '$CLUSTER/pmix' && exec slurmd -D -N n$node" >/dev/null 2>&1 &
        DAEMONS+=($!)
    done
    for _ in $(seq 200); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = "$NODES" ] && return 0
        sleep 0.1
    done
    if grep -q 'fatal:' "$CLUSTER"/slurmd-*.log; then
        echo "skipped: Slurm's daemons do not run here: $(grep -h -m1 'fatal:' "$CLUSTER"/slurmd-*.log | head -1)"
        exit 77
    fi
    echo "the Slurm cluster does not come up:"
    cluster_log
    return 1
}
trap cluster_stop EXIT
