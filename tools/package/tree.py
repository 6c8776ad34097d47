# SPDX-License-Identifier: BSD-3-Clause
"""Builds Murmur for packages and installs it into a tree that works wherever it is moved.

The same commit gives the same bytes: times are the commit's, paths of the build are mapped away, and what a compiler or
an archiver would draw at random is fixed. Libraries are linked with the path that they have when installed, since one of
the build would leave room of its length."""

import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = r'(mpi_abi\w*|door_\w+|mpiexec|murmur-info|murmur_manual|murmur_modules)'  # not tests and examples


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def version():
    return (ROOT / 'VERSION').read_text().strip()


def epoch():
    """The time of the commit; a source archive has it in a file."""
    if 'SOURCE_DATE_EPOCH' in os.environ:
        return int(os.environ['SOURCE_DATE_EPOCH'])
    if (ROOT / '.epoch').exists():
        return int((ROOT / '.epoch').read_text())
    return int(output_of('git', '-C', str(ROOT), 'log', '-1', '--format=%ct'))


def run(words, log, **more):
    with open(log, 'a') as file:
        done = subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        raise SystemExit(f'make package: {" ".join(map(str, words[:4]))} ... failed; see {log}')


class Target:
    """The machine that the packages are for."""

    def __init__(self, triplet):
        self.triplet = triplet or output_of('cc', '-dumpmachine').replace('-pc-', '-').replace('-unknown-', '-')
        self.machine = self.triplet.split('-')[0]
        self.is_native = not triplet
        self.prefix = '' if self.is_native else triplet + '-'

    @property
    def debian(self):
        return {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(self.machine, self.machine)


def build(directory, target):
    """Builds below the directory and installs into directory/tree."""
    log, made, tree = directory / 'build.log', directory / 'build', directory / 'tree'
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch()), LC_ALL='C.UTF-8', PYTHONHASHSEED='0')
    flags = f'"-ffile-prefix-map={made}=build" "-ffile-prefix-map={ROOT}=." -frandom-seed=murmur'
    arguments = ['-DCMAKE_BUILD_TYPE=RelWithDebInfo', '-DMURMUR_TESTS=OFF', f'-DCMAKE_C_FLAGS={flags}',
                 '-DCMAKE_INSTALL_PREFIX=/opt/murmur', '-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON', '-G', 'Ninja']
    if not target.is_native:
        arguments += ['-DCMAKE_SYSTEM_NAME=Linux', f'-DCMAKE_SYSTEM_PROCESSOR={target.machine}',
                      f'-DCMAKE_C_COMPILER={target.prefix}gcc']
    run(['cmake', '-S', ROOT, '-B', made, *arguments, *os.environ.get('CMAKE_ARGS', '').split()], log, env=environment)
    targets = re.findall(rf'(?m)^{TARGETS}: phony', output_of('ninja', '-C', str(made), '-t', 'targets', 'all'))
    run(['cmake', '--build', made, '--target', *targets], log, env=environment)
    shutil.rmtree(tree, ignore_errors=True)
    run(['cmake', '--install', made, '--prefix', tree], log, env=environment)
    strip(tree, target)
    for path in ('LICENSE', 'README.md', 'CHANGELOG.md'):
        (tree / 'share/doc/murmur').mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, tree / 'share/doc/murmur' / path)
    set_times(tree)
    return tree


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.open('rb').read(4) == b'\x7fELF'


def strip(tree, target):
    for path in sorted(tree.rglob('*')):
        if is_elf(path):
            subprocess.run([target.prefix + 'strip', '--strip-unneeded', '--remove-section=.comment',
                            '--remove-section=.note', path], check=True)
        elif path.suffix == '.a':
            subprocess.run([target.prefix + 'strip', '--strip-debug', '--enable-deterministic-archives',
                            '--remove-section=.gnu.lto_*', '--remove-section=.gnu.debuglto_*', path], check=True)


def set_times(tree):
    """One time for all, and the permissions that a umask of 022 gives."""
    for path in [tree, *tree.rglob('*')]:
        os.utime(path, (epoch(), epoch()), follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def glibc(tree, target):
    """The oldest version of glibc on which the programs and libraries run, as a pair of numbers."""
    needed = [(2, 17)]
    for path in tree.rglob('*'):
        if is_elf(path):
            symbols = output_of(target.prefix + 'objdump', '-T', str(path))
            needed += [tuple(map(int, found.split('.')[:2])) for found in re.findall(r'GLIBC_(\d+\.\d+)', symbols)]
    return max(needed)
