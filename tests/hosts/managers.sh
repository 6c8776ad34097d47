#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Agents started by the commands of resource managers. The commands are ours, in PATH: each checks that it is called as
# the real one wants to be, and then runs what it got on the host, as the real one would: by a shell or without, with its
# standard input or with none.
. "$(dirname "$0")/lib.sh"
hosts_up 2
cd "$scratch" || exit 1
mkdir commands
export HOME=$scratch/home
mkdir "$HOME"

command_of() { # name, pattern of the words before the host, what runs the words
    cat >"commands/$1" <<END
#!/bin/bash
said="\$*"
echo "\$said" >>"$scratch/calls"
before=($2)
for word in "\${before[@]}"; do
    [ "\$1" = "\$word" ] || { echo "$1: '\$word' was expected, not '\$1': \$said" >&2; exit 2; }
    shift
done
$3
END
    chmod +x "commands/$1"
}
shell='host=$1; shift; exec '"$scratch"'/rsh "$host" "$*"'
enter="exec ip netns exec $tag-\$host unshare -u sh -c 'hostname \$0; exec \"\$@\"' \$host"
command_of blaunch "" "$shell"
command_of qrsh "-inherit -V" "$shell"
command_of srun "--mpi=none --overlap -Q -N1 -n1" \
    "[[ \$1 = --nodelist=* ]] || exit 2; host=\${1#--nodelist=}; shift; $enter \"\$@\""
command_of pbs_tmrsh "" "host=\$1; shift; $enter \"\$@\" </dev/null"

job() { # what the calls must be like, mpiexec's arguments
    local wanted=$1
    shift
    : >calls
    timeout 60 ip netns exec "$tag-h0" env PATH="$scratch/commands:$PATH" "$mpiexec" "$@" >out 2>err </dev/null ||
        fail "mpiexec $*: code $?: $(cat out err)"
    [ "$(LC_ALL=C sort out | tr '\n' ';')" = "h1 0/1;h2 1/1;" ] || fail "mpiexec $*: $(cat out err)"
    [ "$(grep -cE -- "$wanted" calls)" = 2 ] || fail "mpiexec $*: wanted two calls like '$wanted': $(cat calls)"
    [ -z "$(ls -A "$HOME")" ] || fail "mpiexec $*: left in the home directory: $(ls -A "$HOME")"
    nothing_left "$*"
}

say=(sh -c 'echo $(hostname) $MUR_RANK/$MUR_LOCAL_SIZE')
agent="$mpiexec -agent [0-9]+ [0-9]+"
printf 'h1 1 all.q UNDEFINED\nh2 1 all.q UNDEFINED\n' >sge
printf 'h1\nh2\n' >pbs
LSB_MCPU_HOSTS="h1 1 h2 1" job "^h[12] $agent [0-9]" "${say[@]}"
PE_HOSTFILE=$scratch/sge job "^-inherit -V h[12] $agent [0-9]" "${say[@]}"
SLURM_JOB_NODELIST="h[1-2]" SLURM_TASKS_PER_NODE='1(x2)' \
    job "^--mpi=none --overlap -Q -N1 -n1 --nodelist=h[12] $agent [0-9]" "${say[@]}"
PBS_NODEFILE=$scratch/pbs job "^h[12] $agent $HOME/.murmur-" -launcher pbs "${say[@]}"
job "^h[12] $agent [0-9]" -launcher lsf -host h1,h2 "${say[@]}"
HYDRA_LAUNCHER=sge job "^-inherit -V h[12] $agent [0-9]" -host h1,h2 "${say[@]}"

# They also ask what parts the hosts have: of one CPU there is one.
taskset -pc "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" $$ >/dev/null
for launcher in slurm lsf sge pbs; do
    job "h[12] $mpiexec -survey hwthread" -launcher $launcher -host h1,h2 -map-by ppr:1:hwthread "${say[@]}"
done

# A command that cannot be found, or fails, is named.
printf '#!/bin/sh\necho "no such task" >&2\nexit 9\n' >commands/pbs_tmrsh
ip netns exec "$tag-h0" env PATH="$scratch/commands:$PATH" "$mpiexec" -launcher pbs -host h1 true >out 2>err &&
    fail "a failing start command: code 0"
grep -q "host h1: pbs_tmrsh ended with code 9" err || fail "a failing start command: $(cat err)"
[ -z "$(ls -A "$HOME")" ] || fail "left in the home directory: $(ls -A "$HOME")"
rm commands/blaunch
ip netns exec "$tag-h0" env PATH="$scratch/commands:$PATH" "$mpiexec" -launcher lsf -host h1 true >out 2>err &&
    fail "a missing start command: code 0"
grep -q "cannot execute 'blaunch'" err || fail "a missing start command: $(cat err)"
nothing_left "resource managers"
