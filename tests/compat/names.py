#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""That a door's library has the names that programs want of the library of the other MPI: names.py OURS THEIRS...
Left aside is what belongs to that MPI's own parts and to extensions that are not MPI (LEFT_ASIDE). Skipped (77) where
the other MPI is not installed."""

import pathlib
import re
import subprocess
import sys

LEFT_ASIDE = [
    r'P?MPIX_.*', r'p?mpix_.*', r'pmpixr_.*', r'mpiext_.*',  # extensions
    r'.*_delete_error_(class|code|string)_f08_',             # MPICH's names before MPI-4.1's MPI_Remove_error_...
    r'_(ITM|_bss|edata|end|init|fini).*',
    r'__mpi_\w+_MOD__?_?_?(copy|def_init|vtab)_.*',          # what gfortran makes of derived types, for class(*)
    r'__mpi_f08_(types|compile_constants)_MOD_mpi_.*',       # parameters, whose values programs hold; _c2f and _f2c
    r'ompi_f08_.*',                                          # the same, for compilers without such parameters
    r'__mpi_(constants|c_interface_\w+)_MOD_.*',
    r'(ompix?_.*_f|P?MPI_.*_(f|f08))',                       # between that MPI's own libraries
    r'ompi_intercept_extra_state_t_class', r'p?ompi_buffer_detach_f08',
    r'MPIR_.*', r'mpirinit[cf]_', r'pmpir_(f_sync_reg_f08ts|buffer_detach_f08)_',
    r'MPI_F_(ARGVS?_NULL|ERRCODES_IGNORE)', r'P?MPI_Status_\w+',
    r'(P?MPI|p?mpi)_(comm_|type_|win_)?(null_copy|null_delete|dup|conversion)_fn(_null)?_*',
    r'PMPI_\w+_FN(_NULL)?',
]


def names(path):
    listed = subprocess.run(['nm', '-D', '--defined-only', path], check=True, capture_output=True, text=True).stdout
    return {line.split()[2].split('@')[0] for line in listed.splitlines() if len(line.split()) > 2}


def main(ours, *theirs):
    theirs = [path for path in theirs if pathlib.Path(path).exists()]
    if not theirs:
        print(f'skipped: the other MPI, whose names {ours} must have, is not installed')
        return 77
    wanted = set().union(*map(names, theirs))
    left_aside = re.compile('|'.join(f'(?:{pattern})' for pattern in LEFT_ASIDE))
    missing = sorted(name for name in wanted - names(ours) if not left_aside.fullmatch(name))
    for name in missing:
        print(f'{name}: programs may want it, and {ours} does not have it')
    print(f'{len(wanted)} names, {len(missing)} missing')
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
