#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Options about places and starting, on other hosts: maps and files of ranks, orders, what is sent, where Murmur is, and
# whether hosts can be reached.
. "$(dirname "$0")/lib.sh"
hosts_up 3
cd "$scratch" || exit 1

job() { # expected code, then mpiexec's arguments; fills out and err
    local expected=$1
    shift
    timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh" "$@" >out 2>err </dev/null
    code=$?
    [ $code = "$expected" ] || fail "mpiexec $*: code $code, expected $expected: $(cat out err)"
}

is() { # what, expected: the lines of out, sorted
    local seen
    seen=$(LC_ALL=C sort out | tr '\n' ';')
    [ "$seen" = "$2" ] || fail "$1: expected '$2', saw '$seen'"
}

says() { grep -qF -- "$2" "$3" || fail "$1: expected '$2' within '$(cat "$3")'"; }
where='echo $MUR_RANK $(hostname)'

job 0 -host h1:2,h2:1,h3:3 -rankmap 2,0,2,1 sh -c "$where"
is "-rankmap" "0 h3;1 h1;2 h3;3 h2;"
printf 'rank 0=h2 slot=0\nrank 1=h1\nrank 2=h2 slot=0\n' >ranks
job 0 -rankfile ranks -report-bindings sh -c "$where"
is "-rankfile names the hosts" "0 h2;1 h1;2 h2;"
says "-rankfile binds on other hosts" "rank 2 on h2 is bound to CPU" err
says "-rankfile without a slot" "rank 1 on h1 is not bound" err
job 2 -host h1 -rankfile ranks true
says "a host that is not listed" "rank 0 is to run on h2, which is not in the list" err
job 0 -host h1:2,h2:2 -rank-by node sh -c "$where"
is "-rank-by node" "0 h1;1 h2;2 h1;3 h2;"
job 0 -host h1:2,h2:2 -map-by node -rank-by slot sh -c "$where"
is "-rank-by slot" "0 h1;1 h1;2 h2;3 h2;"
job 0 -host h1:2,h2:1,h3:3 -order-nodes descending -n 4 sh -c "$where"
is "-order-nodes descending" "0 h3;1 h3;2 h3;3 h1;"
job 0 -host h1:2,h2:1,h3:3 -order-nodes asc -n 2 sh -c "$where"
is "-order-nodes ascending" "0 h2;1 h1;"

# Which options reach the ranks of other hosts.
nicer=$(($(nice) + 10 > 19 ? 19 : $(nice) + 10)) # the kernel stops there
job 0 -host h1,h2,h3 -priority below -output-from 1-2 -gpus-per-proc 2 sh -c 'echo $(hostname) $(nice) $ZE_AFFINITY_MASK'
is "priority, output and GPUs" "h2 $nicer 0,1;h3 $nicer 0,1;"
job 0 -host h1,h2 -nompi sh -c 'env | grep -c PMI_; true'
is "-nompi" "0;0;"
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
job 0 -host h1,h2 -cpu-set "$cpu" sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
is "-cpu-set" "$cpu;$cpu;"

# A program that the hosts do not have: it is hidden there.
mkdir only-here
cp "$(command -v hostname)" only-here/tell
printf '#!/bin/sh\necho script on $(hostname)\n' >only-here/script
chmod +x only-here/script
cat >rsh-apart <<END
#!/bin/sh
host=\$1
shift
exec ip netns exec $tag-\$host unshare -um sh -c 'hostname \$0; mount -t tmpfs none $scratch/only-here; exec sh -c "\$1"' "\$host" "\$*"
END
chmod +x rsh-apart
apart() { timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh-apart" "$@" >out 2>err </dev/null; }
apart -host h1,h2 ./only-here/tell && fail "the hosts have the program"
apart -preload-binary -host h1,h2 ./only-here/tell || fail "-preload-binary: $(cat err)"
is "-preload-binary" "h1;h2;"
apart -preload-binary -agent-width 1 -host h1,h2,h3 ./only-here/script a || fail "-preload-binary of a script: $(cat err)"
is "-preload-binary of a script" "script on h1;script on h2;script on h3;"

# Murmur somewhere else on the hosts.
mkdir -p there/bin there/lib
ln -s "$mpiexec" there/bin/mpiexec
cat >rsh-word <<END
#!/bin/sh
echo "\$2" >>$scratch/commands
exec "$scratch/rsh" "\$@"
END
chmod +x rsh-word
elsewhere() { timeout 60 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/rsh-word" "$@" >out 2>err </dev/null; }
elsewhere -prefix "$scratch/there" -host h1 sh -c 'echo ${PATH%%:*} ${LD_LIBRARY_PATH%%:*}' || fail "-prefix: $(cat err)"
says "-prefix" "exec $scratch/there/bin/mpiexec" commands
grep -qF "$scratch/there/bin" out || fail "-prefix and PATH: $(cat out)"
grep -qF "$scratch/there/lib" out || grep -qF murmur/compat out || fail "-prefix and LD_LIBRARY_PATH: $(cat out)"
rm commands
PATH=$scratch/there/bin:$PATH elsewhere -hybrid-hosts -host h1 hostname || fail "-hybrid-hosts: $(cat err)"
says "-hybrid-hosts" "exec mpiexec -agent" commands

# Can jobs be started there?
job 0 -validate -host h1,h2
is "-validate" "SUCCESS: jobs can be started on h1 by $scratch/rsh;SUCCESS: jobs can be started on h2 by $scratch/rsh;"
job 1 -validate -host h1,h9,h2
says "-validate of a host that is not there" "FAIL: no job can be started on h9" out
says "-validate goes on" "SUCCESS: jobs can be started on h2" out
nothing_left "options of starting"
exit 0
