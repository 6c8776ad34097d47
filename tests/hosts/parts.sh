#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# So many ranks for each part of a host: hosts with different machines, which hwloc makes up for those that start there.
. "$(dirname "$0")/lib.sh"
hosts_up 4
[ "$(taskset -c 0,1 sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" = 0-1 ] || skip "no CPUs 0 and 1"
HWLOC_SYNTHETIC="pack:1 l5:1 core:1 pu:1" taskset -c 0,1 "$mpiexec" -bind-to l5cache true 2>/dev/null || skip "no hwloc"

# Of two CPUs, as sockets or cores, with caches or not; h4 is as if it could not be reached. The login script prints much,
# and what looks like an answer.
echo "pack:2 l3:1 core:1 pu:1" >"$scratch/machine-h1"
echo "pack:1 l3:1 core:2 pu:1" >"$scratch/machine-h2"
echo "pack:1 core:1 pu:2" >"$scratch/machine-h3"
cat >"$scratch/login" <<END
#!/bin/sh
[ \$1 != h4 ] || { echo "no route to h4" >&2; exit 9; }
echo \$1 >>$scratch/asked
seq 3000
echo "mpiexec-survey 7"
HWLOC_SYNTHETIC=\$(cat $scratch/machine-\$1) exec taskset -c 0,1 $scratch/rsh "\$@"
END
chmod +x "$scratch/login"

job() { # CODE ARGS...
    local expected=$1 code
    shift
    rm -f "$scratch/asked"
    timeout 30 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/login" "$@" >"$scratch/out" 2>"$scratch/err"
    code=$?
    [ $code = "$expected" ] || fail "$*: code $code instead of $expected: $(grep -v '^[0-9]*$' "$scratch/err")"
}

ranks() { # HOSTS ARGS...: what `hostname` says on each rank, in order
    local expected=$1 seen
    shift
    job 0 -l "$@" hostname </dev/null
    seen=$(sort -n -t '[' -k 2 "$scratch/out" | sed 's/.* //' | tr '\n' ' ')
    [ "$seen" = "$expected " ] || fail "$*: ranks on '$seen' instead of '$expected'"
}

refuse() { # CODE TEXT ARGS...
    local code=$1 text=$2
    shift 2
    job "$code" "$@" true
    grep -qF -- "$text" "$scratch/err" || fail "$*: expected '$text', saw: $(grep -v '^[0-9]*$' "$scratch/err")"
    nothing_left "$*"
}

ranks "h1 h1 h2 h3" -host h1,h2,h3 -map-by ppr:1:socket
ranks "h1 h1 h1 h1 h2 h2 h3 h3" -host h1,h2,h3 -map-by ppr:2:socket
ranks "h1 h1 h2 h2 h3" -host h1,h2,h3 -map-by ppr:1:core
ranks "h3 h3 h2 h2" -host h3,h2 -map-by ppr:1:hwthread
ranks "h2 h3 h1" -host h2,h3,h1 -map-by ppr:1:socket -n 3
ranks "h2 h1 h1 h2" -host h2,h1 -npersocket 1 -oversubscribe -n 4
ranks "h2 h1 h1" -host h2,h1 -map-by ppr:1:socket -agent-width 1
ranks "h2 h2 h2" -host h2,h1 -map-by ppr:3:l3cache -n 3

# Who is not to run ranks is not asked; nor is anybody where it is not needed.
printf 'h4\nh1:1\nh2:1\n' >"$scratch/list"
ranks "h2 h1 h1" -hostfile "$scratch/list" -host h2 -map-by ppr:1:socket -n 1 hostname : -host h1 -n 2
ranks "h1 h2" -host h1,h2 -map-by ppr:1:node
[ "$(wc -l <"$scratch/asked")" = 2 ] || fail "hosts are asked for nothing: $(cat "$scratch/asked")"

refuse 2 "h3 has no l3cache to map ranks by" -host h1,h3 -map-by ppr:1:l3cache
refuse 2 "1 for each socket are 3 on 2 hosts (from -host)" -host h1,h2 -map-by ppr:1:socket -n 4
refuse 1 "cannot ask host h4 how many sockets it has: $scratch/login ended with code 9" -host h1,h4 -map-by ppr:1:socket
grep -q "no route to h4" "$scratch/err" || fail "what the command says is not shown"
rm "$scratch/login"
refuse 1 "cannot ask host h1 how many cores it has: $scratch/login ended with code 127" -host h1 -map-by ppr:1:core
nothing_left "parts of hosts"
exit 0
