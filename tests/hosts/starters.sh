#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The commands that start agents: an agent that begins with SIGCHLD ignored ends like any other, and the end of the ranks
# here does not touch the commands that serve other hosts.
. "$(dirname "$0")/lib.sh"
hosts_up 2
cd "$scratch" || exit 1

gone() { ! kill -0 "$1"; }
agent_on() { ip netns pids "$tag-h$1" | xargs -n1 sh -c 'grep -q mur-agent /proc/$0/comm && echo $0'; }

# Agents that begin with SIGCHLD ignored, as children of what ignores it do. Nobody but the guard itself ends the guard of
# such an agent: they are started as by a daemon of the host, outside of mpiexec's descendants.
serve() { # host: takes one command
    local command
    read -r command <"command-$1"
    "$scratch/rsh" "$1" "exec env --ignore-signal=CHLD ${command#exec }" <"input-$1"
    echo "$1 $?" >>ended
}
have_ended() { [ "$(wc -l <ended)" -ge "$1" ]; }

if env --ignore-signal=CHLD true 2>/dev/null; then
    cat >asking <<END
#!/bin/sh
printf '%s\n' "\$2" >"$scratch/command-\$1"
exec cat >"$scratch/input-\$1"
END
    chmod +x asking
    mkfifo command-h1 command-h2 input-h1 input-h2
    : >ended
    serve h1 2>>log &
    serve h2 2>>log &
    timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/asking" -host h1,h2 -n 2 \
        sh -c 'exit $((3 * MUR_RANK))' >out 2>&1
    code=$?
    [ $code = 3 ] || fail "SIGCHLD ignored: code $code: $(cat out log)"
    await "the guards' end" have_ended 2
    [ "$(sort ended | xargs)" = "h1 0 h2 0" ] || fail "SIGCHLD ignored: $(cat ended log)"
    nothing_left "SIGCHLD ignored"
else
    echo "NOT TESTED: agents that begin with SIGCHLD ignored (env has no --ignore-signal)"
fi

# A rank fails; the one here has to be killed, while the agent on h2, which is stopped, has not ended its rank.
cat >telling <<END
#!/bin/sh
echo \$\$ >"$scratch/starter-\$1"
exec "$scratch/rsh" "\$@"
END
chmod +x telling
cat >rank <<'END'
echo $$ >rank-$MUR_RANK
case $MUR_RANK in
0) trap '' TERM ;;
1) until [ -e go ]; do sleep 0.1; done; exit 3 ;;
esac
while :; do sleep 1; done
END
ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/telling" -host localhost,h1,h2 -n 3 sh rank >out 2>&1 &
job=$!
await "the start" [ -s rank-0 -a -s rank-2 ]
stopped=$(agent_on 2)
kill -STOP $stopped
touch go
await "the end of rank 0" gone "$(cat rank-0)"
sleep 0.3 # time for more of the passes that kill what rank 0 has left behind
gone "$(cat starter-h2)" 2>/dev/null && ! grep -q h2 out && fail "the starter of h2 was killed before h2 was done: $(cat out)"
kill -CONT $stopped 2>/dev/null
wait $job
code=$?
[ $code = 3 ] || fail "a rank that fails: code $code: $(cat out)"
nothing_left "a rank that fails"
exit 0
