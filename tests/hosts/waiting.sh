#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# -wait: hosts that come up late, that never come up, or whose Murmur is missing; by a command, and by daemons.
. "$(dirname "$0")/lib.sh"
hosts_up 2
cd "$scratch" || exit 1
export HOME=$scratch
unset MUR_PHRASE_FILE HYDRA_PROXY_RETRY_COUNT

# Like ssh to a host that refuses: code 255 and a message, until it is up.
cat >late <<END
#!/bin/sh
echo try >>"$scratch/tries-\$1"
if [ ! -e "$scratch/up-\$1" ]; then
    echo "connect to \$1: refused" >&2
    exit 255
fi
exec "$scratch/rsh" "\$@"
END
chmod +x late
start() { timeout 120 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/late" "$@" >out 2>err </dev/null; }
tries() { wc -l <"tries-$1" 2>/dev/null || echo 0; }
is_tried() { [ "$(tries "$1")" -ge "$2" ]; } # host, times

touch up-h2
start -host h1,h2 -n 2 hostname && fail "a job without h1"
[ "$(tries h1)" = 1 ] || fail "h1 is tried $(tries h1) times without -wait"

# It comes up after some tries; one line says who is waited for, and one try complains.
rm -f tries-*
start -wait 100 -host h1,h2 -n 2 hostname &
job=$!
await "try 3 of h1" is_tried h1 3
touch up-h1
wait $job || fail "a host that comes up late: $(cat err)"
[ "$(sort out | tr '\n' ' ')" = "h1 h2 " ] || fail "the output: $(cat out)"
[ "$(cat err)" = "connect to h1: refused
mpiexec: waiting up to 100 s for host h1" ] || fail "messages: $(cat err)"
[ "$(tries h2)" = 1 ] || fail "h2 is tried $(tries h2) times"

# It never comes up: the reason is told again at the end. Agents wait for those that they start in turn.
rm -f up-h2 tries-*
HYDRA_PROXY_RETRY_COUNT=2 start -agent-width 1 -host h1,h2 -n 2 hostname && fail "a host that never comes up"
[ "$(grep -c "h2: refused" err)" = 2 ] || fail "the reason, first and last: $(cat err)"
grep -q "waiting up to 2 s for host h2" err || fail "HYDRA_PROXY_RETRY_COUNT: $(cat err)"
grep -q "cannot start an agent on host h2" err || fail "the end of waiting: $(cat err)"
[ "$(tries h2)" -ge 3 ] || fail "h2 is tried $(tries h2) times in 2 s"

# What is missing there does not come by waiting.
printf '#!/bin/sh\necho try >>%s/missing\nexit 127\n' "$scratch" >no-murmur
chmod +x no-murmur
timeout 60 ip netns exec "$tag-h0" "$mpiexec" -wait 1000 -launcher-exec "$scratch/no-murmur" -host h1 true 2>err && fail "127"
[ "$(wc -l <missing)" = 1 ] || fail "a missing program is tried again"

# An interrupt does not wait.
rm -f up-h1 tries-*
timeout 120 ip netns exec "$tag-h0" "$mpiexec" -wait 1000 -launcher-exec "$scratch/late" -report-pid "$scratch/pid" -host h1 true \
    >out 2>err &
job=$!
await "try 2 of h1" is_tried h1 2
kill -INT "$(cat pid)"
wait $job
[ $? = 130 ] || fail "SIGINT while waiting"

# A survey of the hosts waits as well.
rm -f up-h1 tries-*
start -wait 100 -host h1 -map-by ppr:1:numa hostname &
job=$!
await "try 2 of h1" is_tried h1 2
touch up-h1
wait $job || fail "a survey of a host that comes up late: $(cat err)"

# By daemons, the first of which starts late.
smpd=$(dirname "$mpiexec")/smpd
"$smpd" -set phrase "Blauwal-$$" || skip "no settings can be written"
timeout 120 ip netns exec "$tag-h0" "$mpiexec" -launcher smpd -noprompt -wait 100 -host 10.77.0.1 hostname >out 2>err </dev/null &
job=$!
await "the word that it waits" grep -q "waiting up to" err
ip netns exec "$tag-h1" unshare -u sh -c "hostname h1; exec $smpd -s" || fail "the daemon does not start"
wait $job || fail "a daemon that starts late: $(cat err)"
[ "$(cat out)" = h1 ] || fail "the output by the daemon: $(cat out)"
exit 0
