#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How programs built for other MPIs find Murmur: under mpiexec, by their own paths, by LD_LIBRARY_PATH alone; which ones are
# refused; and what murmur-info says of each: finding.sh MPIEXEC MURMUR-INFO. Needs no other MPI: the programs are linked
# to libraries that have that MPI's names and nothing in them.
set -u
mpiexec=$1
info=$2
folder=$(dirname "$(dirname "$mpiexec")")/lib/murmur/compat
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
expect() { # WHAT PATTERN OUTPUT
    [[ $3 == *"$2"* ]] || fail "$1: expected '$2' in: $3"
}

# A library of this name, with these data objects, and a program that is linked to it.
cat >"$scratch/program.c" <<'C'
#include <stdio.h>
extern int MPI_Init(int *, char ***), MPI_Finalize(void), MPI_Get_library_version(char *, int *);
#ifdef OBJECT
extern char OBJECT[512];
#endif
int main(int argc, char **argv)
{
    char text[9000] = "";
    int length;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    puts(text);
#ifdef OBJECT
    if (OBJECT[0])
        return 1;
#endif
    return MPI_Finalize();
}
C
cat >"$scratch/library.c" <<'C'
#ifdef OBJECT
char OBJECT[512];
#endif
int MPI_Init(int *argc, char ***argv) { return !argc + !argv; }
int MPI_Finalize(void) { return 0; }
int MPI_Get_library_version(char *text, int *length) { text[0] = 'x'; text[1] = 0; *length = 1; return 0; }
C
build() { # PROGRAM SONAME [OPTION...]
    local program=$1 soname=$2
    shift 2
    mkdir -p "$scratch/$program.d"
    cc -shared -fPIC -Wl,-soname,"$soname" -o "$scratch/$program.d/$soname" "$scratch/library.c" "$@" || exit 1
    cc -o "$scratch/$program" "$scratch/program.c" "$scratch/$program.d/$soname" "$@" || exit 1
}
cd "$scratch" || exit 1
build of_mpich libmpi.so.12
build of_openmpi libmpi.so.40 -DOBJECT=ompi_mpi_comm_world
build of_old_openmpi libmpi.so.12 -DOBJECT=ompi_mpi_comm_world
build of_mpich_1 libmpich.so.1.0
build with_path libmpi.so.40 -DOBJECT=ompi_mpi_comm_world -Wl,--disable-new-dtags -Wl,-rpath,"$scratch/with_path.d"

for program in "of_mpich:MPICH" "of_openmpi:Open MPI" "with_path:Open MPI"; do
    family=${program#*:}
    program=${program%:*}
    seen=$(timeout 60 "$mpiexec" -n 1 ./$program 2>&1)
    expect "$program under mpiexec" "binary interface of $family" "$seen"
    seen=$("$info" ./$program)
    expect "murmur-info $program" "built for $family" "$seen"
    expect "murmur-info $program" "It runs on Murmur" "$seen"
done
seen=$(LD_LIBRARY_PATH=$folder ./of_mpich 2>&1)
expect "without mpiexec" "binary interface of MPICH" "$seen"
# A user's own path to the other MPI does not come first, unless the user says so.
seen=$(LD_LIBRARY_PATH=$scratch/of_mpich.d timeout 60 "$mpiexec" -n 1 ./of_mpich 2>&1)
expect "beside a module's path" "binary interface of MPICH" "$seen"
seen=$(LD_LIBRARY_PATH=$scratch/of_mpich.d timeout 60 "$mpiexec" -abi native -n 1 ./of_mpich 2>&1)
[ "$seen" = x ] || fail "-abi native: $seen"
# What a script runs, and what a program loads.
printf '#!/bin/sh\nexec "%s"\n' "$scratch/of_openmpi" >script && chmod +x script
seen=$(timeout 60 "$mpiexec" -n 1 ./script 2>&1)
expect "by a script" "binary interface of Open MPI" "$seen"
seen=$(timeout 60 "$mpiexec" -abi openmpi -n 1 sh -c 'unset LD_LIBRARY_PATH; exec ./with_path' 2>&1)
expect "-abi openmpi" "binary interface of Open MPI" "$seen"

# mpi4py's wheels are told which library to load, unless the user says so.
# shellcheck disable=SC2016
named=$(timeout 60 "$mpiexec" -n 1 sh -c 'echo "$MPI4PY_LIBMPI"')
[ -r "$named" ] || fail "no library for mpi4py: '$named'"
# shellcheck disable=SC2016
named=$(MPI4PY_LIBMPI=mine timeout 60 "$mpiexec" -n 1 sh -c 'echo "$MPI4PY_LIBMPI"')
[ "$named" = mine ] || fail "the user's MPI4PY_LIBMPI: '$named'"

# A script that puts that MPI's own library first: its ranks are worlds of one, which is said while they run.
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec "%s" </dev/null\n' "$scratch/of_openmpi.d" "$scratch/waits" >alone && chmod +x alone
cat >waits.c <<'C'
#include <poll.h>
#include <unistd.h>
extern int MPI_Init(int *, char ***);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 600 && access("said", F_OK) < 0; i++)
        poll(NULL, 0, 100);
    return 0;
}
C
cc -o waits waits.c of_openmpi.d/libmpi.so.40 || exit 1
: >said.txt
timeout 60 "$mpiexec" -n 2 ./alone 2>said.txt &
for ((i = 0; i < 600; i++)); do
    [ -s said.txt ] && break
    sleep 0.1
done
touch said
wait
expect "a world of one" "2 ranks started, but each thinks that it is alone: rank 0" "$(cat said.txt)"
expect "a world of one" "of_openmpi.d/libmpi.so.40, a library of Open MPI" "$(cat said.txt)"
rm said
# Ranks of Murmur are not alone, whatever they have loaded.
seen=$(timeout 60 "$mpiexec" -n 2 sh -c './of_openmpi >/dev/null; sleep 0.5' 2>&1)
[ -z "$seen" ] || fail "ranks that are not alone: $seen"

for program in "of_old_openmpi:Open MPI 1.7 to 1.10" "of_mpich_1:MPICH 1"; do
    what=${program#*:}
    program=${program%:*}
    seen=$(timeout 60 "$mpiexec" -n 2 ./$program 2>&1)
    [ $? -ne 0 ] || fail "$program was started"
    expect "$program" "was built for $what" "$seen"
    [ "$(wc -l <<<"$seen")" = 1 ] || fail "$program: more than one line: $seen"
    seen=$("$info" ./$program)
    [ $? = 1 ] || fail "murmur-info $program: $seen"
    expect "murmur-info $program" "It does not run on Murmur" "$seen"
done
exit $failed
