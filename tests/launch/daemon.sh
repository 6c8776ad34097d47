#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# smpd on this host: its command line, whose phrase it takes, what it refuses; jobs by it, one after the other and at
# once; it is killed and started anew, and talked to by strangers and through somebody who alters what is said; and the
# phrase is nowhere to be seen.
set -u
mpiexec=${MPIEXEC:?}
smpd=$(dirname "$mpiexec")/smpd
scratch=$(mktemp -d)
export HOME=$scratch MUR_HOST_TIMEOUT=20 HYDRA_LAUNCHER_AUTOFORK=0
unset MUR_PHRASE_FILE MPIEXEC_SMPD HYDRA_LAUNCHER
phrase=Blauwal-$$-$RANDOM
daemon=
mangler=

fail() {
    echo "FAILED: $*: $(cat "$scratch/out" 2>/dev/null)" >&2
    exit 1
}

clean_up() {
    [ -n "$daemon" ] && kill -9 "$daemon" 2>/dev/null
    [ -n "$mangler" ] && kill -9 "$mangler" 2>/dev/null
    rm -rf "$scratch"
}
trap clean_up EXIT

start_daemon() { # arguments; sets daemon, port
    MUR_PHRASE_FILE='' "$smpd" -d "$@" >"$scratch/port" 2>"$scratch/daemon" &
    daemon=$!
    for _ in $(seq 300); do
        [ -s "$scratch/port" ] && break
        kill -0 $daemon 2>/dev/null || break
        sleep 0.1
    done
    port=$(cat "$scratch/port")
    [ -n "$port" ] || fail "the daemon does not start: $(cat "$scratch/daemon")"
}

by_daemon() { # mpiexec's arguments
    timeout 120 "$mpiexec" -launcher smpd -noprompt -port "$port" -host 127.0.0.1 "$@" >"$scratch/out" 2>&1 </dev/null
}

says() { # what, expected part
    grep -qF -- "$2" "$scratch/out" || fail "$1: expected '$2'"
}

agents_left() { # what
    for _ in $(seq 100); do
        pgrep -P "$daemon" >/dev/null || return 0
        sleep 0.1
    done
    fail "$1: processes are left: $(ps -o pid,args --ppid "$daemon")"
}

# ---- the documented table of states is the one that the daemon runs by ----
python3 - "$(dirname "$0")/../../docs/daemon.md" "$("$smpd" -states)" <<'END' || fail "docs/daemon.md has another table"
import sys
sys.exit(sys.argv[2] not in open(sys.argv[1]).read())
END

# ---- the file of settings ----
"$smpd" -set phrase "$phrase" || fail "smpd -set"
[ "$(stat -c %a "$scratch/.smpd")" = 600 ] || fail "the mode of ~/.smpd"
[ "$("$smpd" -get phrase)" = "$phrase" ] || fail "smpd -get"
"$smpd" -sethosts a b:2 && [ "$("$smpd" -hosts)" = a,b:2 ] || fail "smpd -hosts"
[ "$("$smpd" -get phrase)" = "$phrase" ] || fail "another key is lost"
chmod 644 "$scratch/.smpd"
"$smpd" -d -anyport >"$scratch/out" 2>&1 && fail "a file that others read is taken"
says "a file that others read" "can be read or changed by others"
chmod 600 "$scratch/.smpd"
"$smpd" -d -anyport -smpdfile "$scratch/none" >"$scratch/out" 2>&1 && fail "no phrase"
says "no phrase" "there is no phrase"

# ---- jobs ----
start_daemon -anyport
"$smpd" -status -port "$port" >"$scratch/out" 2>&1 || fail "smpd -status"
says "the status" "smpd of Murmur"
by_daemon -n 3 sh -c 'echo rank of $PPID' || fail "a job"
[ "$(grep -c "rank of" "$scratch/out")" = 3 ] || fail "the output of a job"
by_daemon -n 2 sh -c 'exit 7'
[ $? = 7 ] || fail "the exit code of a job"
echo some input | timeout 120 "$mpiexec" -launcher smpd -port "$port" -host 127.0.0.1 -n 1 cat >"$scratch/out" 2>&1
says "standard input" "some input"
by_daemon -map-by ppr:1:node hostname || fail "a survey by the daemon"
agents_left "jobs"
for i in $(seq "${JOBS:-50}"); do by_daemon -n 2 true || fail "job $i of many"; done
pids=()
for i in 1 2 3 4; do
    timeout 120 "$mpiexec" -launcher smpd -port "$port" -host 127.0.0.1 -n 2 sh -c "echo job $i" >"$scratch/out$i" 2>&1 &
    pids+=($!)
done
for i in 1 2 3 4; do
    wait "${pids[$((i - 1))]}" || fail "job $i of four at once: $(cat "$scratch/out$i")"
    [ "$(sort -u "$scratch/out$i")" = "job $i" ] || fail "the output of job $i: $(cat "$scratch/out$i")"
done
agents_left "many jobs"
descriptors=$(ls /proc/$daemon/fd | wc -l)
[ "$descriptors" -lt 20 ] || fail "$descriptors descriptors are left"

# ---- who does not know the phrase ----
echo "phrase=another" >"$scratch/wrong"
chmod 600 "$scratch/wrong"
by_daemon -smpdfile "$scratch/wrong" -n 1 true && fail "another phrase is taken"
says "another phrase" "the daemon has another phrase"
by_daemon -smpdfile "$scratch/none" -n 1 true && fail "no phrase is taken"
says "no phrase" "no phrase for the daemons"
echo "$phrase" >"$scratch/pwd"
by_daemon -smpdfile "$scratch/none" -pwdfile "$scratch/pwd" -n 1 true || fail "-pwdfile"
MUR_PHRASE_FILE=$scratch/pwd by_daemon -smpdfile "$scratch/none" -n 1 true || fail "MUR_PHRASE_FILE"
by_daemon -smpdfile "$scratch/none" -phrase "$phrase" -n 1 true || fail "-phrase"
says "-phrase" "others on this host may have seen the phrase"

# -logon asks at the terminal, whatever is written somewhere. Without a terminal what is written will do.
echo "$phrase" | "${BUILD:-$(dirname "$mpiexec")/..}/tests/launch/terminal" "phrase of the daemons" "$mpiexec" -logon -launcher smpd \
    -port "$port" -host 127.0.0.1 -smpdfile "$scratch/wrong" echo hello >"$scratch/out" 2>&1
[ $? = 0 ] || [ $? = 77 ] || fail "-logon"
says "-logon" "hello"
grep -qF "$phrase" "$scratch/out" && fail "the phrase is echoed"

# ---- strangers ----
for what in "x" "$(head -c 3000 /dev/urandom | tr -d '\0')" "MURSMPD" "GET / HTTP/1.0"; do
    (exec 3<>"/dev/tcp/127.0.0.1/$port" && printf '%s' "$what" >&3) 2>/dev/null
done
silent=()
for _ in $(seq 20); do
    exec {fd}<>"/dev/tcp/127.0.0.1/$port" && silent+=("$fd")
done
by_daemon -n 1 true || fail "a job beside strangers"
for fd in "${silent[@]}"; do exec {fd}>&-; done

# ---- the phrase is nowhere to be seen ----
by_daemon -n 1 sh -c "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; env" || fail "looking"
grep -qF "$phrase" "$scratch/out" && fail "the phrase is seen"
"$smpd" -traceon "$scratch/trace" -port "$port" && by_daemon -n 1 true && "$smpd" -traceoff -port "$port" || fail "trace"
grep -q "session, start: start agent, job" "$scratch/trace" || fail "the trace: $(cat "$scratch/trace")"
grep -qF "$phrase" "$scratch/trace" "$scratch/daemon" && fail "the phrase is in a log"

# ---- it is killed, and started anew; a new phrase upon SIGHUP ----
timeout 120 "$mpiexec" -launcher smpd -port "$port" -host 127.0.0.1 -n 1 sh -c "echo up; while [ ! -e $scratch/go ]; do sleep 0.1; done; echo still here" \
    >"$scratch/long" 2>&1 &
job=$!
for _ in $(seq 300); do grep -q up "$scratch/long" && break; sleep 0.1; done
printf 'hosts\njobs\nranks\n' | "$smpd" -console -port "$port" >"$scratch/out" 2>&1 || fail "the console"
says "jobs" "user $(id -un)"
says "hosts" "a,b:2"
says "ranks" ": sh"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
"$smpd" -s -port "$port" >"$scratch/out" 2>&1 || fail "it starts anew at the same port"
daemon=$("$smpd" -status -port "$port" | sed 's/.*process \([0-9]*\) .*/\1/')
touch "$scratch/go"
wait "$job" || fail "a job whose daemon was killed: $(cat "$scratch/long")"
grep -q "still here" "$scratch/long" || fail "the output of a job whose daemon was killed: $(cat "$scratch/long")"
by_daemon -n 1 true || fail "a job by the new daemon"
"$smpd" -restart -port "$port" || fail "smpd -restart"
for _ in $(seq 300); do "$smpd" -status -port "$port" >"$scratch/out" 2>&1 && break; sleep 0.1; done
says "it executes itself anew" "process $daemon "
"$smpd" -set phrase "$phrase-2" && kill -HUP "$daemon"
for _ in $(seq 100); do "$smpd" -status -port "$port" >"$scratch/out" 2>&1 && break; sleep 0.1; done
says "a new phrase" "smpd of Murmur"

# ---- somebody in the middle: the job is right, or it is refused ----
seed=${MUR_TEST_SEED:-$RANDOM}
echo "seed $seed"
between=$((port > 50000 ? port - 7001 : port + 7001))
for how in pass flip drop repeat swap cut flip drop; do
    seed=$((seed + 1))
    python3 "$(dirname "$0")/mangler.py" $between "$port" $seed $how >"$scratch/mangler" 2>&1 &
    mangler=$!
    for _ in $(seq 300); do grep -q ready "$scratch/mangler" && break; sleep 0.1; done
    timeout 120 "$mpiexec" -launcher smpd -noprompt -port $between -host 127.0.0.1 -n 2 echo right >"$scratch/out" 2>&1
    code=$?
    [ $code != 124 ] || fail "$how, seed $seed: it hangs"
    if [ $code = 0 ]; then
        [ "$(grep -c '^right$' "$scratch/out")" = 2 ] || fail "$how, seed $seed: the output is wrong"
    else
        [ $how != pass ] || fail "the middle that changes nothing"
        says "$how, seed $seed" "mpiexec: "
    fi
    kill -9 $mangler
    wait $mangler 2>/dev/null
    mangler=
done
"$smpd" -shutdown -port "$port" || fail "smpd -shutdown"
for _ in $(seq 100); do kill -0 "$daemon" 2>/dev/null || break; sleep 0.1; done
kill -0 "$daemon" 2>/dev/null && fail "it is still there after -shutdown"
daemon=
exit 0
