# SPDX-License-Identifier: BSD-3-Clause
"""A wheel for PyPI, murmur-mpi: library, launcher and compilers' wrappers, which pip installs into bin, lib and include of
the Python environment. mpi4py's wheels are built for MPICH and Open MPI, and look for libmpi.so.12 in lib: they find the
library there that has MPICH's interface."""

import base64
import hashlib
import time
import zipfile

import tree

SUMMARY = 'Murmur: an MPI-5.0 library on the standard ABI, and its launcher'
# Not for Python's users: static libraries, the unit of a daemon, HTML.
LEFT_OUT = ('.a', '.service', '.html', '.css')
SMPD = '#!/bin/sh\n# The daemon is mpiexec under another name.\nexec "$(dirname -- "$(readlink -f -- "$0")")/mpiexec" -daemon "$@"\n'


def digest(data):
    return 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()


def contents(folder):
    """(name, bytes, whether it can be executed). A wheel has no links: they become copies, or files that lead there."""
    for path in sorted(folder.rglob('*')):
        name = str(path.relative_to(folder))
        if path.is_dir() or name.endswith(LEFT_OUT) or name.startswith('lib/murmur/modules'):
            continue
        can_run = bool(path.stat().st_mode & 0o100)
        if name == 'lib/murmur/compat/libmpi.so.12':
            yield 'lib/libmpi.so.12', path.read_bytes(), True
        if name == 'bin/smpd':
            yield name, SMPD.encode(), True
        elif path.is_symlink() and path.suffix == '.so':
            yield name, f'INPUT({path.resolve().name})\n'.encode(), False
        else:
            yield name, path.read_bytes(), can_run


def make(out, folder, target):
    major, minor = tree.glibc(folder, target)
    tag = f'py3-none-manylinux_{major}_{minor}_{target.machine}'
    base = f'murmur_mpi-{tree.version()}'
    files = [(f'{base}.data/data/{name}', data, can_run) for name, data, can_run in contents(folder)]
    files.append((f'{base}.dist-info/METADATA',
                  f'Metadata-Version: 2.1\nName: murmur-mpi\nVersion: {tree.version()}\nSummary: {SUMMARY}\n'
                  'License: BSD-3-Clause\nClassifier: Operating System :: POSIX :: Linux\n'
                  'Description-Content-Type: text/markdown\n\n'
                  '`pip install murmur-mpi mpi4py`, then `mpiexec -n 4 python -m mpi4py.bench helloworld`.\n'.encode(), False))
    files.append((f'{base}.dist-info/WHEEL',
                  f'Wheel-Version: 1.0\nGenerator: murmur\nRoot-Is-Purelib: false\nTag: {tag}\n'.encode(), False))
    files.append((f'{base}.dist-info/licenses/LICENSE', (tree.ROOT / 'LICENSE').read_bytes(), False))
    record = ''.join(f'{name},{digest(data)},{len(data)}\n' for name, data, _ in files)
    files.append((f'{base}.dist-info/RECORD', f'{record}{base}.dist-info/RECORD,,\n'.encode(), False))
    path = out / f'{base}-{tag}.whl'
    with zipfile.ZipFile(path, 'w') as file:
        for name, data, can_run in files:
            entry = zipfile.ZipInfo(name, time.gmtime(tree.epoch())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if can_run else 0o100644) << 16
            file.writestr(entry, data)
    return path
