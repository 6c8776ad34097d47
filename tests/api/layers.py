#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks from the include lines of src/ that a lower part never includes an upper one: layers.py SRC"""

import pathlib
import re
import sys

# From the top to the bottom; a part may include its own level and those below.
LEVELS = [
    {'mpi'},
    {'pt2pt', 'coll', 'rma', 'io', 'topo', 'comm', 'tool'},
    {'match', 'datatype', 'object'},
    {'engine'},
    {'transport'},
    {'boot', 'base'},
]

# The generated prototypes, for those who write a body beside its core.
EXCEPTIONS = {'mpi/bodies.h'}


def level_of(part):
    for number, parts in enumerate(LEVELS):
        if part in parts:
            return number
    return None


def main(src):
    src = pathlib.Path(src)
    mistakes = []
    for path in sorted(src.rglob('*.[ch]')):
        name = path.relative_to(src)
        own = level_of(name.parts[0])
        if own is None:
            mistakes.append(f'{name}: the part {name.parts[0]!r} has no level in {pathlib.Path(__file__).name}')
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match or '/' not in match.group(1) or match.group(1) in EXCEPTIONS:
                continue
            other = level_of(match.group(1).split('/')[0])
            if other is not None and other < own:
                mistakes.append(f'{name}:{number}: includes {match.group(1)}, which is above it')
    print('\n'.join(mistakes) if mistakes else 'no part includes one above it')
    return 1 if mistakes else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
