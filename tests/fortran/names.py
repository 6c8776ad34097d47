#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The library has every procedure of the three interfaces, with MPI_ and PMPI_, under the names that the manglings of
compilers give it; and every binding label of mpi_f08.

    tests/fortran/names.py SOURCE_DIR LIBRARY
"""
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / 'api'))
import fortran  # noqa: E402

output = subprocess.run(['nm', '-D', '--defined-only', sys.argv[2]], capture_output=True, text=True, check=True).stdout
there = {line.split()[-1].split('@')[0] for line in output.splitlines()}


def mangled(name):
    lower = name.lower()
    return {lower + '_', lower + '__', lower, name.upper()}


wanted = set()
for prefix in ('MPI_', 'PMPI_'):
    for procedure in fortran.procedures('f90'):
        wanted |= mangled(procedure.name(prefix))
        if any(a.c_name == 'baseptr' for a in procedure.arguments):
            wanted |= mangled(procedure.name(prefix) + '_cptr')
    for procedure in fortran.procedures('f08'):
        specific = procedure.specific(prefix)
        wanted |= {specific} if procedure.has_choice else mangled(specific)
    wanted |= {f'{prefix}Sizeof_f08ts', f'{prefix}F_sync_reg_f08ts'} | mangled(f'{prefix}F_sync_reg')
    for name in ('Status_f2f08', 'Status_f082f'):
        wanted |= mangled(f'{prefix}{name}_f08')
for name, _ in fortran.predefined('f90'):
    wanted |= mangled('MPI_' + name)
missing = sorted(wanted - there)
print(f'{len(wanted)} names, {len(missing)} missing: {" ".join(missing[:20])}')
sys.exit(1 if missing else 0)
