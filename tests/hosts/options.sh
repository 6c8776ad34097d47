#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What options mean on other hosts: placement, labels, files, environment, binding, input, exit codes, and their errors.
. "$(dirname "$0")/lib.sh"
hosts_up 3
cd "$scratch" || exit 1
echo 'h[1-3] slots=2' >list

job() { # expected code, then mpiexec's arguments; fills out and err
    local expected=$1
    shift
    timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" -f list "$@" >out 2>err
    code=$?
    [ $code = "$expected" ] || fail "mpiexec $*: code $code, expected $expected: $(cat out err)"
}

is() { # what, expected, file: its lines, sorted
    local seen
    seen=$(LC_ALL=C sort "$3" | tr '\n' ';')
    [ "$seen" = "$2" ] || fail "$1: expected '$2', saw '$seen'"
}

says() { # what, expected part, file
    grep -qF -- "$2" "$3" || fail "$1: expected '$2' within '$(cat "$3")'"
}

job 0 -l sh -c 'echo $(hostname) $MUR_LOCAL_RANK/$MUR_LOCAL_SIZE' </dev/null
is "a file's slots" "[0] h1 0/2;[1] h1 1/2;[2] h2 0/2;[3] h2 1/2;[4] h3 0/2;[5] h3 1/2;" out
job 0 -map-by node -n 4 -prepend-pattern '%r@%h/%p ' echo hi </dev/null
is "in turn" "0@h1/0 hi;1@h2/1 hi;2@h3/2 hi;3@h1/0 hi;" out
job 0 -host h3,h2 -display-map -n 3 hostname </dev/null
is "a choice of the file" "h2;h2;h3;" out
is "the map" "mpiexec: h2 runs rank 0-1;mpiexec: h3 runs rank 2;" err
job 0 -npernode 1 -outfile-pattern "$scratch/o.%r.%h" -tag-output sh -c 'echo out; echo err >&2' </dev/null
is "files of stdout" "[1,0]<stdout>:out;[1,1]<stdout>:out;[1,2]<stdout>:out;" <(cat o.0.h1 o.1.h2 o.2.h3)
is "stderr" "[1,0]<stderr>:err;[1,1]<stderr>:err;[1,2]<stderr>:err;" err
job 0 -output-filename "$scratch/copies" sh -c 'echo $MUR_RANK' </dev/null
is "shown as well" "0;1;2;3;4;5;" out
is "copies" "0;1;2;3;4;5;" <(cat copies/1/rank.*/stdout)
job 3 -continue-on-failure -exitcodes sh -c '[ $MUR_RANK != 4 ] || exit 3' </dev/null
is "exit codes" "mpiexec: rank 4 exited with code 3;mpiexec: ranks 0-3,5 exited with code 0;" err
FOO=1 BAR=2 job 0 -genvlist FOO -env A 3 -map-by node -n 2 sh -c 'echo $FOO/$BAR/$A' </dev/null
is "environment" "1//3;1//3;" out
job 0 -npernode 1 -usize 9 -mca btl_tcp_if_include eth0 sh -c 'echo $MUR_UNIVERSE_SIZE $MUR_TCP_INCLUDE' </dev/null
is "-usize and -mca" "9 eth0;9 eth0;9 eth0;" out
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
job 0 -n 4 -bind-to "user:$cpu" -report-bindings sh -c 'sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status' \
    </dev/null
is "bound" "$cpu;$cpu;$cpu;$cpu;" out
says "the report" "rank 3 on h2 is bound to CPU $cpu" err

# Hosts that are one machine, and so have the same cores; but not where they may use different ones.
job 0 -n 5 "$bin/hosts-machine" </dev/null
is "ranks on the machine" "5;5;5;5;5;" out
job 0 -n 5 -agent-width 1 "$bin/hosts-machine" </dev/null
is "ranks on the machine, agents in a row" "5;5;5;5;5;" out
job 0 -host h1:2 -n 2 "$bin/hosts-machine" </dev/null
is "ranks on an only host" "2;2;" out
if [ "$(nproc)" -gt 1 ]; then
    last=$(taskset -pc $$ | sed 's/.*[-,:] *//')
    sed "s/exec ip netns/[ \$host != h2 ] || pin='taskset -c $last'; exec \$pin ip netns/" rsh >pinned
    chmod +x pinned
    timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/pinned" -f list -n 5 "$bin/hosts-machine" >out 2>err
    is "ranks that share cores" "2;2;3;3;3;" out
fi

echo one >in
job 0 -l -stdin none cat <in
is "-stdin none" "" out
job 0 -l -stdin 4 cat <in
is "-stdin 4" "[4] one;" out
job 0 -l -stdin all cat <in
is "-stdin all" "[0] one;[1] one;[2] one;[3] one;[4] one;[5] one;" out
head -c 3000000 /dev/urandom >large
job 0 -n 3 -map-by node -stdin 2 sh -c '[ $MUR_RANK != 2 ] || cat' <large
cmp large out || fail "three million bytes by -stdin 2 differ"

job 1 -bind-to user:1023 true </dev/null
says "a host without that CPU" "-bind-to user: names CPUs 1023" err
job 1 -outfile-pattern /no/such/%r sleep 60 </dev/null
says "a file that cannot be made there" "cannot write '/no/such/" err
job 127 -map-by node -n 3 -path "$scratch" no-such-program </dev/null
says "a program that is not there" "on host h" err
job 2 -nooversubscribe -n 7 true </dev/null
says "too many" "there are 6 slots on 3 hosts (from list)" err

# The command that starts an agent may end in its own time.
cat >"$scratch/slow" <<END
#!/bin/sh
"$scratch/rsh" "\$@"
sleep 0.2
echo "\$1" >>"$scratch/left"
END
chmod +x "$scratch/slow"
timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/slow" -host h1,h2 -n 2 true </dev/null || fail "slow leave: code $?"
is "commands that ended by themselves" "h1;h2;" "$scratch/left"
nothing_left "options on hosts"
