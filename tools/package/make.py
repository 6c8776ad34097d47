#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes packages: make.py OUT [KIND...]

KIND is tar, deb, wheel or source; all of them without one. OUT/work-MACHINE is used to build. MURMUR_TARGET names a machine to
build for by its triplet (aarch64-linux-gnu), whose compiler must be installed; CMAKE_ARGS adds arguments of cmake. The
packages of one commit have the same bytes wherever they are made with the same compilers.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import archive
import debian
import tree
import wheel

KINDS = ('tar', 'deb', 'wheel', 'source')


def make_source(out):
    """What is committed, and the time of the commit."""
    name = f'murmur-{tree.version()}'
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / name
        folder.mkdir()
        packed = subprocess.run(['git', '-C', tree.ROOT, 'archive', 'HEAD'], check=True, capture_output=True).stdout
        subprocess.run(['tar', '-x', '-C', folder], input=packed, check=True)
        (folder / '.epoch').write_text(f'{tree.epoch()}\n')
        tree.set_times(folder)
        archive.make(out / f'{name}.tar.xz', folder, name)
    return out / f'{name}.tar.xz'


def main(arguments):
    kinds = arguments[1:] or KINDS
    if not arguments or not set(kinds) <= set(KINDS):
        sys.exit(__doc__.strip())
    out = pathlib.Path(arguments[0]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    made = [make_source(out)] if 'source' in kinds else []
    if set(kinds) - {'source'}:
        target = tree.Target(os.environ.get('MURMUR_TARGET'))
        work = out / f'work-{target.machine}'
        work.mkdir(exist_ok=True)
        folder = tree.build(work, target)
    if 'tar' in kinds:
        path = out / f'murmur-{tree.version()}-linux-{target.machine}.tar.xz'
        archive.make(path, folder, f'murmur-{tree.version()}')
        made.append(path)
    if 'wheel' in kinds:
        made.append(wheel.make(out, folder, target))
    if 'deb' in kinds:
        made += debian.make(out, folder, target)
    for path in made:
        print(f'make package: {path}')


if __name__ == '__main__':
    main(sys.argv[1:])
