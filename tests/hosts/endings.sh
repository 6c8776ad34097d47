#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How a job ends is the same by a command like ssh and by daemons: the exit code, what mpiexec says, and that nothing is
# left. Then JOBS jobs in turn (200), and 20 at once, by daemons.
# endings.sh PUPPET
. "$(dirname "$0")/lib.sh"
puppet=$(realpath "$1")
hosts_up 2
cd "$scratch" || exit 1
smpd=$(dirname "$mpiexec")/smpd
export HOME=$scratch MUR_HOST_TIMEOUT=20
unset MUR_PHRASE_FILE
"$smpd" -set phrase "Blauwal-$$" || skip "no settings can be written"
cat >by-address <<END
#!/bin/sh
exec "$scratch/rsh" "h\${1##*.}" "\$2"
END
chmod +x by-address
for i in 1 2; do
    ip netns exec "$tag-h$i" unshare -u sh -c "hostname h$i; exec $smpd -s" || fail "the daemon on h$i does not start"
done

is_daemon() { case $(tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline") in "$smpd -s "* | "") true ;; *) false ;; esac; }
daemons() { for i in 1 2; do for pid in $(ip netns pids "$tag-h$i"); do echo "$pid"; done; done; }

only_daemons() { # what
    for _ in $(seq 100); do
        left=
        for i in 0 1 2; do
            for pid in $(ip netns pids "$tag-h$i"); do is_daemon "$pid" || left="$left $pid"; done
        done
        [ -z "$left" ] && return
        sleep 0.1
    done
    fail "$1: processes are left: $(ps -o pid,args -p "$(echo $left | tr ' ' ,)")"
}

launch() { # how, mpiexec's arguments
    local how=(-launcher smpd -noprompt)
    [ "$1" = daemon ] || how=(-launcher-exec "$scratch/by-address")
    shift
    exec timeout 100 ip netns exec "$tag-h0" "$mpiexec" "${how[@]}" -host 10.77.0.1,10.77.0.2 -n 4 "$@" </dev/null
}

# What it says without what differs from job to job; where all hosts fail, any of them may be the first.
words() { sed 's/pid [0-9]*/pid N/g; s/on host [0-9.]*:/on host H:/; s/([0-9]* ranks\? still/(some still/; s/[0-9]* other ranks\? w[a-z]* ended/others ended/' "$1" | sort -u; }

both() { # what, expected code, act, mpiexec's arguments; an act happens once all four ranks are up
    local what=$1 expected=$2 act=$3 start=
    shift 3
    for how in command daemon; do
        : >"out-$how"
        (launch $how "$@") >"out-$how" 2>"err-$how" &
        job=$!
        if [ -n "$act" ]; then
            await "the start of four ranks" four_are_up "out-$how"
            $act
        fi
        start=$SECONDS
        wait $job
        code=$?
        [ $code = "$expected" ] || fail "$what by $how: code $code, expected $expected: $(cat "out-$how" "err-$how")"
        [ $((SECONDS - start)) -lt 20 ] || fail "$what by $how: the end took $((SECONDS - start)) s"
        only_daemons "$what by $how"
    done
    [ "$(words err-command)" = "$(words err-daemon)" ] ||
        fail "$what: by a command: $(cat err-command), by daemons: $(cat err-daemon)"
    [ "$(sort out-command)" = "$(sort out-daemon)" ] || fail "$what: other output: $(cat out-command out-daemon)"
}

terminate() { kill -TERM "$(cat pid)"; }
interrupt() { kill -INT "$(cat pid)"; }
kill_head() { kill -KILL "$(cat pid)"; }
kill_agent() {
    for pid in $(ip netns pids "$tag-h2"); do [ "$(cat "/proc/$pid/comm")" = mur-agent ] && kill -9 "$pid"; done
}
kill_rank() { kill -KILL "$(ip netns pids "$tag-h2" | xargs -n1 sh -c '[ "$(cat /proc/$0/comm)" != sleep ] || echo $0' | head -1)"; }

both "all is well" 0 "" hostname
both "an exit code" 7 "" sh -c '[ $MUR_RANK != 3 ] || exit 7; sleep 100'
both "MPI_Abort" 9 "" "$puppet" init 3/abort:9:enough wait
both "a rank that leaves MPI early" 1 "" "$puppet" init 2/exit:0 wait
both "a signal" 143 "" sh -c '[ $MUR_RANK != 2 ] || kill -TERM $$; sleep 100'
both "no such program" 127 "" ./no-such-program
both "a time limit" 124 "" -timeout 2 sleep 100
both "SIGTERM to mpiexec" 143 terminate -report-pid "$scratch/pid" sh -c 'echo up; exec sleep 100'
both "SIGINT to mpiexec" 130 interrupt -report-pid "$scratch/pid" sh -c 'echo up; exec sleep 100'
both "SIGTERM that ranks ignore" 143 terminate -report-pid "$scratch/pid" sh -c 'trap "" TERM; echo up; exec sleep 100'
both "a rank is killed" 137 kill_rank sh -c 'echo up; exec sleep 100'
both "mpiexec is killed" 137 kill_head -report-pid "$scratch/pid" sh -c 'echo up; exec sleep 100'

# Who takes the agent for lost differs in words: by daemons it is the daemon that saw it go.
for how in command daemon; do
    : >out
    (launch $how sh -c 'echo up; exec sleep 100') >out 2>err &
    job=$!
    await "the start of four ranks" four_are_up out
    kill_agent
    wait $job
    code=$?
    [ $code = 200 ] || fail "an agent is killed, by $how: code $code: $(cat err)"
    grep -q "the agent on host 10.77.0.2 is lost" err || fail "an agent is killed, by $how: $(cat err)"
    only_daemons "an agent is killed, by $how"
done

# Many jobs leave no process and no descriptor behind.
before=$(for pid in $(daemons); do ls "/proc/$pid/fd" | wc -l; done)
for i in $(seq "${JOBS:-200}"); do (launch daemon true) >out 2>&1 || fail "job $i in turn: $(cat out)"; done
jobs=()
for i in $(seq 20); do
    (launch daemon sh -c "echo job $i") >"out$i" 2>&1 &
    jobs+=($!)
done
for i in $(seq 20); do
    wait "${jobs[$((i - 1))]}" || fail "job $i of 20 at once: $(cat "out$i")"
    [ "$(sort "out$i" | uniq -c | tr -s ' ')" = " 4 job $i" ] || fail "the output of job $i of 20: $(cat "out$i")"
done
only_daemons "many jobs"
[ "$(for pid in $(daemons); do ls "/proc/$pid/fd" | wc -l; done)" = "$before" ] || fail "descriptors are left in a daemon"
exit 0
