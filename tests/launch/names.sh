#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Names and variables that people know from other MPIs: names.sh MPIEXEC MPICC.
set -u
mpiexec=$1
mpicc=$2
folder=$(dirname "$mpiexec")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
expect() { # WHAT PATTERN OUTPUT
    [[ $3 == *"$2"* ]] || fail "$1: expected '$2' in: $3"
}

for name in mpirun mpiexec.hydra mpiexec.gforker mpiexec.remshell mpiexec_rsh orterun prterun; do
    [ "$(timeout 60 "$folder/$name" -n 2 echo here | grep -c here)" = 2 ] || fail "$name"
done
for name in mpichversion mpich2version ompi_info; do
    expect "$name" Murmur "$("$folder/$name")"
done
expect "-version, as tools classify it" MPICH "$("$mpiexec" --version)"
expect "-version" "(Murmur)" "$("$mpiexec" --version)"

for variable in MPICH_CC OMPI_CC; do
    [ "$(env "$variable=echo called" "$mpicc" -c x.c | cut -c1-6)" = called ] || fail "$variable"
done
[ "$(MUR_CC=echo MPICH_CC=false "$mpicc" -c x.c | wc -l)" = 1 ] || fail "MUR_CC is not the first"

# What reaches a remote host's shell.
printf '#!/bin/sh\necho "$@" >>"%s/asked"\nexit 1\n' "$scratch" >shell && chmod +x shell
SSHD_PORT=2222 MPIEXEC_RSH="$scratch/shell -x" timeout 60 "$mpiexec" -host elsewhere.invalid -n 1 true >/dev/null 2>&1
expect "MPIEXEC_RSH" "-x" "$(cat asked)"
expect "SSHD_PORT" "-p 2222" "$(cat asked)"
expect "MPIEXEC_RSH" elsewhere.invalid "$(cat asked)"
expect "HYDRA_DEBUG" "job " "$(HYDRA_DEBUG=1 timeout 60 "$mpiexec" -n 1 true 2>&1)"
[ -z "$(HYDRA_DEBUG=0 timeout 60 "$mpiexec" -n 1 true 2>&1)" ] || fail "HYDRA_DEBUG=0"

for variable in MPI_WRAP_DLL_NAME MPI_DLL_NAME; do
    echo 'int loaded;' >one.c && cc -shared -fPIC -o one.so one.c || exit 1
    # shellcheck disable=SC2016
    seen=$(env "$variable=$scratch/one.so" timeout 60 "$mpiexec" -n 1 sh -c 'echo "$LD_PRELOAD"')
    expect "$variable" "$scratch/one.so" "$seen"
done
exit $failed
