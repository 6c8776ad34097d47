#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs across hosts by their daemons alone: no ssh, and no command that enters a host. Agents start agents by the
# daemons, too; a daemon that is killed ends no job; one host with another phrase, or none, ends the start.
# daemon.sh RING: a program of MPI
. "$(dirname "$0")/lib.sh"
hosts_up 4
smpd=$(dirname "$mpiexec")/smpd
export HOME=$scratch
unset MUR_PHRASE_FILE
"$smpd" -set phrase "Blauwal-$$" || skip "no settings can be written"

start_daemon() { # host
    ip netns exec "$tag-h$1" unshare -u sh -c "hostname h$1; exec $smpd -s" || fail "the daemon on h$1 does not start"
}

# In h0, which knows the others by address.
by_daemon() {
    timeout 120 ip netns exec "$tag-h0" "$mpiexec" -launcher smpd -noprompt "$@" >"$scratch/out" 2>&1 </dev/null
}

all=10.77.0.1,10.77.0.2,10.77.0.3,10.77.0.4
only_daemons() { # what: nothing else is left on any host
    for _ in $(seq 100); do
        left=
        for i in 0 1 2 3 4; do
            for pid in $(ip netns pids "$tag-h$i"); do
                case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in
                "$smpd -s "* | "") ;;
                *) left="$left $pid" ;;
                esac
            done
        done
        [ -z "$left" ] && return 0
        sleep 0.1
    done
    fail "$1: processes are left: $(ps -o pid,args -p "$(echo $left | tr ' ' ,)")"
}

for i in 1 2 3 4; do start_daemon $i; done
by_daemon -host $all -n 4 hostname || fail "a job: $(cat "$scratch/out")"
[ "$(sort "$scratch/out" | tr '\n' ' ')" = "h1 h2 h3 h4 " ] || fail "the hosts of a job: $(cat "$scratch/out")"
by_daemon -host $all -agent-width 1 -n 8 hostname || fail "agents that start agents: $(cat "$scratch/out")"
[ "$(sort "$scratch/out" | uniq -c | tr -d '\n' | tr -s ' ')" = " 2 h1 2 h2 2 h3 2 h4" ] ||
    fail "the hosts of a chain: $(cat "$scratch/out")"
for n in 2 8 16; do by_daemon -host $all -n $n "$1" || fail "$1 of $n: $(cat "$scratch/out")"; done
for i in $(seq "${JOBS:-10}"); do by_daemon -host $all -n 4 true || fail "job $i: $(cat "$scratch/out")"; done
only_daemons "jobs"

# Nobody has said how: the daemons answer, and there is a phrase. Without one, or where one daemon is missing, ssh is used.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "ssh is called" >&2\nexit 255\n' >"$scratch/bin/ssh"
chmod +x "$scratch/bin/ssh"
plainly() { # mpiexec's arguments
    PATH=$scratch/bin:$PATH timeout 120 ip netns exec "$tag-h0" "$mpiexec" "$@" >"$scratch/out" 2>&1 </dev/null
}
plainly -host $all hostname || fail "daemons that answer: $(cat "$scratch/out")"
[ "$(sort "$scratch/out" | tr '\n' ' ')" = "h1 h2 h3 h4 " ] || fail "daemons that answer: $(cat "$scratch/out")"
for arguments in "-smpdfile $scratch/none" "-launcher ssh" "-launcher-port 22" "-host 10.77.0.77"; do
    plainly -host $all $arguments hostname && fail "$arguments: the daemons are used"
    grep -q "ssh is called" "$scratch/out" || fail "$arguments: $(cat "$scratch/out")"
done

# One of several phrases.
"$smpd" -set phrase.2 "$("$smpd" -get phrase)" && "$smpd" -set phrase.3 another
by_daemon -user 2 -host $all hostname || fail "-user 2: $(cat "$scratch/out")"
by_daemon -user 3 -host $all hostname && fail "-user 3, whose phrase is another"
by_daemon -user 4 -host $all hostname && fail "-user 4, which has no phrase"

# mpiexec is killed, and so is an agent.
: >"$scratch/out"
timeout 120 ip netns exec "$tag-h0" "$mpiexec" -launcher smpd -host $all -n 4 sh -c 'echo up; sleep 100' >"$scratch/out" 2>&1 &
job=$!
await "the start of four ranks" four_are_up "$scratch/out"
for pid in $(ip netns pids "$tag-h0"); do kill -9 "$pid"; done
wait $job
only_daemons "mpiexec was killed"

# A daemon is killed while a job runs: the job goes on, and another daemon takes its place.
: >"$scratch/out" # or what the job before has said would be taken for this one's
timeout 120 ip netns exec "$tag-h0" "$mpiexec" -launcher smpd -host $all -n 4 \
    sh -c "echo up; while [ ! -e $scratch/go ]; do sleep 0.1; done; hostname" >"$scratch/out" 2>&1 &
job=$!
await "the start of four ranks" four_are_up "$scratch/out"
for pid in $(ip netns pids "$tag-h2"); do
    [ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = "$smpd -s " ] && kill -9 "$pid"
done
start_daemon 2
touch "$scratch/go"
wait $job || fail "a job whose daemon was killed: $(cat "$scratch/out")"
grep -q '^h2$' "$scratch/out" || fail "the output of a job whose daemon was killed: $(cat "$scratch/out")"
by_daemon -host $all -n 4 true || fail "a job by the new daemon: $(cat "$scratch/out")"

# Another phrase on one of the hosts; none on another.
for pid in $(ip netns pids "$tag-h3"); do kill "$pid"; done
sleep 0.5
"$smpd" -smpdfile "$scratch/other" -set phrase another
ip netns exec "$tag-h3" "$smpd" -s -smpdfile "$scratch/other" || fail "a daemon with another phrase"
by_daemon -host $all -n 4 true && fail "a daemon with another phrase serves"
grep -q "10.77.0.3: the daemon has another phrase" "$scratch/out" || fail "another phrase: $(cat "$scratch/out")"
for pid in $(ip netns pids "$tag-h4"); do kill "$pid"; done
sleep 0.5
by_daemon -host 10.77.0.1,10.77.0.4 -n 2 true && fail "a host without a daemon serves"
grep -q "no daemon answers on 10.77.0.4" "$scratch/out" || fail "no daemon: $(cat "$scratch/out")"
exit 0
