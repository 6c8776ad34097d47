# SPDX-License-Identifier: BSD-3-Clause
# Several hosts on one machine: network namespaces with their own names and addresses, joined by a bridge, and a command
# like rsh that enters them. Source it; hosts_up N makes the hosts, and all is gone when the script ends.
#   $hosts        their names, as a list with commas: h1,h2,...
#   run ARGS...   mpiexec, in a namespace beside them, which starts agents by that command
# Exits with 77, which is 'skipped', where namespaces cannot be made.
set -u
mpiexec=${MPIEXEC:?}
bin=${BIN:-.}
tag=mur$$
scratch=$(mktemp -d)
host_count=0

hosts_down() {
    for i in $(seq 0 "$host_count"); do
        for pid in $(ip netns pids "$tag-h$i" 2>/dev/null); do kill -9 "$pid" 2>/dev/null; done
        ip netns del "$tag-h$i" 2>/dev/null
    done
    rm -rf "$scratch"
}
trap hosts_down EXIT
trap 'exit 1' INT TERM

skip() {
    echo "SKIPPED: $*: jobs across hosts are not tested here" >&2
    exit 77
}

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# WHAT COMMAND...: waits until the command succeeds.
await() {
    local what=$1
    shift
    for _ in $(seq 1000); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "$what never happened: $(cat "$scratch/out" "$scratch/err" 2>/dev/null)"
}

# FILE: the four ranks that say "up" have said so.
four_are_up() { [ "$(grep -c up "$1")" = 4 ]; }

# Makes keys, and what sshd needs to run on a host by `exec $serve_ssh`: on port 2222, for the keys in
# $scratch/authorized.
prepare_ssh() {
    local sshd
    sshd=$(command -v sshd || echo /usr/sbin/sshd)
    [ -x "$sshd" ] && command -v ssh >/dev/null || skip "no sshd or ssh"
    mkdir -p /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$scratch/host" && ssh-keygen -q -t ed25519 -N '' -f "$scratch/user" || skip "no keys"
    : >"$scratch/authorized"
    chmod 755 "$scratch"
    cat >"$scratch/sshd_config" <<END
HostKey $scratch/host
AuthorizedKeysFile $scratch/authorized
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
END
    serve_ssh="$sshd -D -p 2222 -f $scratch/sshd_config -E $scratch/log"
}

# h0 is where mpiexec runs, and has the bridge; the others hang on it.
hosts_up() {
    [ "$(id -u)" = 0 ] || skip "not root"
    command -v ip >/dev/null || skip "no iproute2"
    ip netns add "$tag-h0" 2>/dev/null || skip "no network namespaces"
    ip -n "$tag-h0" link set lo up
    ip -n "$tag-h0" link add br0 type bridge || skip "no bridge"
    ip -n "$tag-h0" addr add 10.77.0.100/24 dev br0
    ip -n "$tag-h0" link set br0 up
    hosts=
    host_count=$1
    for i in $(seq 1 "$1"); do
        ip netns add "$tag-h$i"
        ip -n "$tag-h$i" link set lo up
        ip -n "$tag-h0" link add "v$i" type veth peer name eth0 netns "$tag-h$i" || skip "no veth"
        ip -n "$tag-h0" link set "v$i" master br0 up
        ip -n "$tag-h$i" addr add "10.77.0.$i/24" dev eth0
        ip -n "$tag-h$i" link set eth0 up
        hosts=$hosts${hosts:+,}h$i
    done
    cat >"$scratch/rsh" <<END
#!/bin/sh
# HOST COMMAND: runs it there, by the shell, under the host's name
host=\$1
shift
exec ip netns exec $tag-\$host unshare -u sh -c 'hostname \$0; exec sh -c "\$1"' "\$host" "\$*"
END
    chmod +x "$scratch/rsh"
}

run() {
    ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" "$@"
}

# Nothing of the job may be left on any host.
nothing_left() {
    local i pids
    for _ in $(seq 50); do
        pids=
        for i in $(seq 0 "$host_count"); do pids="$pids $(ip netns pids "$tag-h$i" 2>/dev/null | tr '\n' ' ')"; done
        [ -z "${pids// /}" ] && return 0
        sleep 0.1
    done
    fail "$1: processes are left: $(ps -o pid,args -p "$(echo $pids | tr ' ' ,)" 2>/dev/null)"
}
