#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The version comes from one place: version.py SOURCES BUILD. What the programs, the manual and pkg-config say is what
the file VERSION has, the changelog begins with it, and no source names it besides."""
import pathlib
import re
import subprocess
import sys

sources, build = map(pathlib.Path, sys.argv[1:3])
version = (sources / 'VERSION').read_text().strip()
wrong = []


def check(what, text):
    if version not in text:
        wrong.append(f'{what} has not the version {version}: {text[:200]!r}')


def says(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


if not re.fullmatch(r'\d+\.\d+\.\d+', version):
    wrong.append(f'VERSION has {version!r}, not three numbers')
check('mpiexec', says(build / 'bin/mpiexec', '-version'))
check('smpd', says(build / 'bin/smpd', '-version'))
check('murmur-info', says(build / 'bin/murmur-info'))
check('mpicc', says(build / 'tools/mpicc', '--showme:version'))
check('murmur.pc', (build / 'tools/murmur.pc').read_text())
check('mpiexec(1)', (build / 'share/man/man1/mpiexec.1').read_text())
check('the HTML manual', (build / 'share/doc/murmur/html/index.html').read_text())
first = re.search(r'(?m)^## (\S+)', (sources / 'CHANGELOG.md').read_text())
check("CHANGELOG.md's first heading", first.group(1) if first else '')
for path in [path for part in ('src', 'launch', 'api', 'compat', 'tools') for path in (sources / part).rglob('*')] + \
        [sources / 'CMakeLists.txt']:
    if path.is_file() and path.suffix != '.pyc' and f'"{version}"' in path.read_text(errors='replace'):
        wrong.append(f'{path} names the version itself')
print('\n'.join(wrong) if wrong else f'all say {version}')
sys.exit(1 if wrong else 0)
