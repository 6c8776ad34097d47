#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every exported function, in both forms, is called by a test, an example or a benchmark: those whose programs refer to
it are found by nm in the build directory.

    tests/api/coverage.py SOURCE_DIR BUILD_DIR            fails and names the functions that nobody calls
    tests/api/coverage.py SOURCE_DIR BUILD_DIR --list     prints for each function how many programs call it
"""
import os
import pathlib
import subprocess
import sys

source, build = (pathlib.Path(a) for a in sys.argv[1:3])
sys.path.insert(0, str(source / 'api'))
import model  # noqa: E402


def programs():
    for folder in ('tests', 'examples', 'bench'):
        for path in sorted((build / folder).rglob('*')):
            if path.is_file() and os.access(path, os.X_OK) and path.read_bytes()[:4] == b'\x7fELF':
                yield path


calls = {}
for program in programs():
    symbols = subprocess.run(['nm', '-D', '--undefined-only', program], capture_output=True, text=True).stdout
    for name in {line.split()[-1].split('@')[0] for line in symbols.splitlines()}:
        calls[name] = calls.get(name, 0) + 1

missing = []
for function in model.read_functions():
    if not function.is_exported:
        continue
    for large in function.forms:
        name = function.name_in(large)
        if '--list' in sys.argv:
            print(f'{calls.get(name, 0):4} {name}')
        elif name not in calls:
            missing.append(name)
if missing:
    sys.exit(f'{len(missing)} functions are exported, but no test calls them: ' + ' '.join(missing))
