#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks from the include lines of src/, launch/ and mpijob/ that a lower part never includes an upper one: layers.py ROOT"""

import pathlib
import re
import sys

# From the top to the bottom; a part may include its own level and those below. Files that lie in launch/ itself are
# the part 'launch', but for those that stand above all others there.
LIBRARY = [
    {'fortran'},
    {'mpi'},
    {'rma', 'io', 'topo', 'tool'},
    {'comm'},
    {'coll'},
    {'pt2pt'},
    {'datatype', 'object'},
    {'match'},
    {'engine'},
    {'transport'},
    {'node'},
    {'boot'},
    {'base'},
]
LAUNCHER = [
    {'mpiexec.c', 'supervisor.c', 'supervisor.h', 'commands'},
    {'agent'},
    {'checkpoint', 'options'},
    {'tree', 'pmi', 'daemon', 'status'},
    {'hosts', 'launch'},
    {'boot'},
    {'base'},
]

MPIJOB = [
    {'mpijob.c', 'cli'},
    {'node', 'controller', 'server', 'console'},
    {'runner', 'client', 'http'},
    {'reconcile'},
    {'store'},
    {'schema', 'api'},
    {'document', 'agent'},
    {'launch'},
]

# The generated prototypes, for those who write a body beside its core; and the engine's state, by which transports
# deliver frames.
EXCEPTIONS = {'mpi/bodies.h', 'engine/state.h'}


def part_of(name):
    """The part of src/, launch/ or mpijob/ that a file, as include lines name it, belongs to."""
    parts = name.split('/')
    if parts[0] == 'mpijob':
        return parts[1]
    if parts[0] == 'launch':
        if len(parts) > 2:
            return parts[1]
        return parts[1] if parts[1] in LAUNCHER[0] else 'launch'
    return parts[0]


def check(folder, prefix, levels):
    """What is wrong below a folder, whose files are included with this prefix."""
    def level_of(part):
        return next((number for number, parts in enumerate(levels) if part in parts), None)

    for path in sorted(folder.rglob('*.[ch]')):
        name = prefix + path.relative_to(folder).as_posix()
        own = level_of(part_of(name))
        if own is None:
            yield f'{name}: the part {part_of(name)!r} has no level in {pathlib.Path(__file__).name}'
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match or '/' not in match.group(1) or match.group(1) in EXCEPTIONS:
                continue
            other = level_of(part_of(match.group(1)))
            if other is None:
                yield f'{name}:{number}: includes {match.group(1)}, of a part that has no level'
            elif other < own:
                yield f'{name}:{number}: includes {match.group(1)}, which is above it'


def main(root):
    root = pathlib.Path(root)
    mistakes = list(check(root / 'src', '', LIBRARY)) + list(check(root / 'launch', 'launch/', LAUNCHER))
    mistakes += check(root / 'mpijob', 'mpijob/', MPIJOB)
    print('\n'.join(mistakes) if mistakes else 'no part includes one above it')
    return 1 if mistakes else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
