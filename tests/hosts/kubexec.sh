#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Agents that get no standard input, as those that kubexec.sh of Kubernetes' operators starts by `kubectl exec`: they
# fetch the job's secret from the agent that started them. Takes a program that passes a message around a ring.
. "$(dirname "$0")/lib.sh"
ring=$1
hosts_up 4
cd "$scratch" || exit 1

# As the operators' script: a pod's name, then words that are joined and given to a shell there, without input.
cat >kubexec.sh <<END
#!/bin/sh
pod=\$1
shift
printf '%s\n' "\$*" >>"$scratch/words"
echo "Defaulted container" # what kubectl may say is no output of the job's
exec "$scratch/rsh" "\$pod" "\$*" </dev/null
END
sed 's|^exec.*|& >/dev/null|' kubexec.sh >mute.sh
sed 's|^exec|sleep 2; exec|; s|</dev/null|& \| { sleep 3; cat; }|' kubexec.sh >kubexec-slow.sh
chmod +x ./*.sh
start() { timeout 90 ip netns exec "$tag-h0" "$mpiexec" "$@"; }

# All options that mpi-operator's launcher is started with; host names are those of pods.
export OMPI_MCA_plm_rsh_agent=$scratch/kubexec.sh OMPI_MCA_orte_default_hostfile=$scratch/hostfile
printf 'h%d slots=2\n' 1 2 3 4 >hostfile
start -np 8 --allow-run-as-root -bind-to none -map-by slot sh -c 'echo "$(hostname) $MUR_RANK"' >out 2>err
code=$?
[ $code = 0 ] && [ "$(sort out | xargs)" = "h1 0 h1 1 h2 2 h2 3 h3 4 h3 5 h4 6 h4 7" ] ||
    fail "ranks in pods: code $code: $(cat out err)"
[ "$(grep -c 'Defaulted container' err)" = 4 ] || fail "what the command says is lost: $(cat err)"
! grep -q agent-key out err || fail "the agents' keys are shown: $(cat out err)"
# From the launcher's pod only, and with nothing among the words that could be the secret: two runs have the same length
# of words, and a key of each that is public.
[ "$(wc -l <words)" = 4 ] && [ "$(grep -c ' key:[0-9a-f]\{64\} ' words)" = 4 ] || fail "the words are $(cat words)"
[ "$(grep -o 'key:[0-9a-f]*' words | sort -u | wc -l)" = 1 ] || fail "the launcher has several keys: $(cat words)"
nothing_left "ranks in pods"

start -np 8 "$ring" >out 2>err || fail "ring: code $?: $(cat out err)"
! start -np 3 sh -c '[ "$MUR_RANK" = 1 ] && exit 5; sleep 60' >out 2>err || fail "a rank failed, and nobody says so"
grep -q "rank 1 on h1" err || fail "a rank failed: $(cat err)"
nothing_left "a rank that fails"

# The key comes later than the call.
OMPI_MCA_plm_rsh_agent=$scratch/kubexec-slow.sh start -np 4 "$ring" >out 2>err || fail "slow: code $?: $(cat out err)"
nothing_left "slow"

# Neither input nor output: it says what is missing.
if OMPI_MCA_plm_rsh_agent=$scratch/mute.sh start -np 1 -host h1 true >out 2>err; then
    fail "an agent without input and output started"
fi
grep -q "got no standard input, and cannot fetch the job's secret" err || fail "mute: $(cat err)"
nothing_left "mute"
