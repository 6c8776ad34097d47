#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares compat/FAMILY/constants.txt with that MPI's own header and library, as far as those know the names:

    tests/compat/constants.py SOURCE_DIR FAMILY COMPILER LIBRARY

Skipped (77) where the compiler is not there. What the header does not have must be in a newer version's, which the file
cannot be compared with here; too many of those are a mistake."""
import pathlib
import re
import subprocess
import sys
import tempfile

source, family_name, compiler, library = sys.argv[1:5]
sys.path.insert(0, str(pathlib.Path(source) / 'api'))
sys.dont_write_bytecode = True
import doors  # noqa: E402

NEWER_MOST = 60


def compile_text(folder, text, *options):
    path = pathlib.Path(folder) / 'x.c'
    path.write_text(text)
    return subprocess.run([compiler, '-w', '-std=gnu11', *options, str(path), '-o', str(path.with_suffix('.x'))],
                          capture_output=True, text=True)


def known(folder, names):
    """The names that the header knows, by what the compiler says of a program with all of them."""
    while True:
        lines = ['#include <mpi.h>'] + [f'long use_{i}(void) {{ return (long)({n}); }}' for i, n in enumerate(names)]
        result = compile_text(folder, '\n'.join(lines) + '\n', '-c')
        if result.returncode == 0:
            return names
        bad = {int(line) - 2 for line in re.findall(r'x\.c:(\d+):\d+: error', result.stderr)}
        if not bad:
            sys.exit(f'the compiler fails: {result.stderr[:2000]}')
        names = [n for i, n in enumerate(names) if i not in bad]


def values(folder, names):
    lines = ['#include <mpi.h>', '#include <stdio.h>', 'int main(void) {'] + \
            [f'printf("{n} %ld\\n", (long)({n}));' for n in names] + ['return 0; }']
    result = compile_text(folder, '\n'.join(lines) + '\n')
    if result.returncode:
        sys.exit(f'the compiler fails: {result.stderr[:2000]}')
    output = subprocess.run([str(pathlib.Path(folder) / 'x.x')], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


def symbols_of(folder, names):
    """The object whose address each handle is."""
    lines = ['#include <mpi.h>'] + [f'void *use_{n} = {n};' for n in names]
    result = compile_text(folder, '\n'.join(lines) + '\n', '-E')
    text = (pathlib.Path(folder) / 'x.x').read_text()
    return dict(re.findall(r'void \*use_(\w+) = .*&\((\w+)\)', text)) if not result.returncode else {}


def sizes():
    output = subprocess.run(['nm', '-DS', '--defined-only', library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in output.splitlines()]
    return {row[3].split('@')[0]: int(row[1], 16) for row in rows if len(row) == 4}


def main():
    family = doors.Family(family_name)
    rows = [(name, value, size) for group, members in family.groups.items() for name, value, size in members]
    mistakes, tried = [], 0
    try:
        subprocess.run([compiler, '--version'], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print(f'NOT TESTED: no {compiler} (Debian: lib{family_name}-dev)')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if compile_text(folder, '#include <mpi.h>\n', '-c').returncode:
            print(f'NOT TESTED: {compiler} has no mpi.h (Debian: lib{family_name}-dev)')
            return 77
        names = known(folder, [name for name, _, size in rows if size is None])
        theirs = values(folder, names)
        for name, value, size in rows:
            expected = int(value, 0) if size is None else None
            # Handles are ints whose highest bit may be set; integer 16 is null where the compiler had none.
            if name in theirs and (theirs[name] - expected) % 2 ** 32 and theirs[name] != 0x0c000000:
                mistakes.append(f'{name} is {theirs[name]:#x} there, {value} here')
            tried += name in theirs
        if family.has_symbols:
            found, bytes_of = symbols_of(folder, [n for n, _, s in rows if s]), sizes()
            for name, symbol, size in rows:
                if size and name in found and found[name] != symbol:
                    mistakes.append(f'{name} is {found[name]} there, {symbol} here')
                if size and symbol in bytes_of and bytes_of[symbol] != size:
                    mistakes.append(f'{symbol} has {bytes_of[symbol]} bytes there, {size} here')
                tried += bool(size and symbol in bytes_of)
    newer = len(rows) - tried
    if newer > NEWER_MOST:
        mistakes.append(f'{newer} names are not there: too many to be those of newer versions')
    print('\n'.join(mistakes) or f'{tried} constants are as there; {newer} are of newer versions')
    return 1 if mistakes else 0


if __name__ == '__main__':
    sys.exit(main())
