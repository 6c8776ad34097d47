#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes C from the description of the interface.

  generate.py all DIRECTORY    writes include/mpi.h, generated/mpi/, generated/fortran/, generated/compat/ and
                               generated/tests/ below the directory
  generate.py sources          names the generated sources of the library, separated by semicolons
  generate.py fortran          names those of the library for Fortran
  generate.py doors            names those of each library for another ABI
  generate.py functions FLAG   names the functions with this flag (+ or -) of functions.txt, one in a line
"""

import pathlib
import sys

sys.dont_write_bytecode = True

import checks
import doors
import entries
import fortran_modules
import fortran_wrappers
import header
import model


def write(path, text):
    """Writes only what changed, so that nothing is rebuilt in vain."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def generate_all(directory):
    directory = pathlib.Path(directory)
    write(directory / 'include/mpi.h', header.header())
    write(directory / 'generated/mpi/bodies.h', entries.bodies())
    write(directory / 'generated/boot/calls.h', entries.calls_header())
    write(directory / 'generated/boot/calls.c', entries.calls_source())
    write(directory / 'generated/mpi/constants.c', entries.constant_table())
    write(directory / 'generated/mpi/door.h', doors.table_header())
    write(directory / 'generated/mpi/door.c', doors.table_source())
    for chapter in entries.chapters():
        write(directory / f'generated/mpi/entry_{chapter}.c', entries.chapter_entries(chapter))
    for chapter in fortran_wrappers.chapters():
        write(directory / f'generated/fortran/fortran_{chapter}.c', fortran_wrappers.chapter_wrappers(chapter))
    for name, text in fortran_modules.files().items():
        write(directory / 'include' / name if name == 'mpif.h' else directory / 'generated/fortran' / name, text)
    for family in doors.FAMILIES:
        for name, text in doors.files(family).items():
            write(directory / f'generated/compat/{family}' / name, text)
    write(directory / 'generated/tests/constants.c', checks.constants())
    write(directory / 'generated/tests/prototypes.c', checks.prototypes())


def sources():
    print(';'.join(['boot/calls.c', 'mpi/constants.c', 'mpi/door.c'] + [f'mpi/entry_{chapter}.c' for chapter in entries.chapters()]), end='')


def fortran_sources():
    print(';'.join(f'fortran/fortran_{chapter}.c' for chapter in fortran_wrappers.chapters()), end='')


def door_sources():
    print(';'.join(['facts.c'] + [f'door_{chapter}.c' for chapter in doors.chapters()]), end='')


def functions(flag):
    for function in model.read_functions():
        if function.is_exported == (flag == '+'):
            for large in function.forms:
                print(function.name_in(large))


def main(arguments):
    commands = {('all', 2): generate_all, ('sources', 1): sources, ('fortran', 1): fortran_sources,
                ('doors', 1): door_sources, ('functions', 2): functions}
    command = commands.get((arguments[0] if arguments else '', len(arguments)))
    if not command:
        sys.exit(__doc__.strip())
    try:
        command(*arguments[1:])
    except model.Problem as problem:
        sys.exit(str(problem))


if __name__ == '__main__':
    main(sys.argv[1:])
