# SPDX-License-Identifier: BSD-3-Clause
"""Debian packages, by dpkg-deb alone.

The installation stays in one piece in /usr/lib/TRIPLET/murmur, beside those of mpich and openmpi; /usr/bin has its commands
under names that end in .murmur, and alternatives (mpi, mpirun, mpi-TRIPLET) offer them under the plain ones, as Debian's
MPI packages do. Their priority is lower than that of both, so that an installation changes no default."""

import email.utils
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import tree

PRIORITY = 30  # mpich has 40, openmpi 50
MAINTAINER = '{} <{}>'.format(os.environ.get('DEBFULLNAME', 'Murmur developers'),
                              os.environ.get('DEBEMAIL', 'murmur@packages.invalid'))
WRAPPERS = ('mpicc', 'mpicxx', 'mpic++', 'mpiCC', 'mpifort', 'mpif90', 'mpif77')
LAUNCHERS = ('mpiexec', 'mpirun')

COPYRIGHT = '''Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: murmur

Files: *
Copyright: the authors of Murmur
License: BSD-3-Clause

License: BSD-3-Clause
'''

PACKAGES = {
    'libmurmur-mpi1': ('libs', 'same', 'MPI-5.0 library on the standard ABI', '''
Murmur implements MPI-5.0. Programs that were compiled against the standard
binary interface of MPI run on it unchanged.
.
This package has the libraries for C and Fortran.'''),
    'murmur-mpi-compat': ('libs', 'same', 'Murmur for programs of other MPIs', '''
Libraries by which programs that were built for MPICH or Open MPI run on
Murmur unchanged. mpiexec.murmur finds them by itself.'''),
    'libmurmur-mpi-dev': ('libdevel', 'same', 'development files of Murmur, an MPI', '''
Headers, static libraries, Fortran modules, files for pkg-config and CMake,
and the compilers' wrappers mpicc, mpicxx and mpifort of Murmur.'''),
    'murmur-mpi-bin': ('net', 'foreign', 'launcher of MPI jobs', '''
mpiexec of Murmur, which starts MPI jobs on one or many hosts, its daemon
smpd for hosts without ssh, and murmur-info.'''),
    'murmur-mpi-doc': ('doc', 'foreign', 'manual of Murmur, an MPI', '''
A manual page for every function of MPI, also as HTML with search.'''),
}


class Package:
    """The root of a package under construction."""

    def __init__(self, work, name, target, prefix):
        self.name, self.target, self.prefix = name, target, prefix
        self.root = work / name
        self.scripts = {'postinst': [], 'prerm': []}

    def put(self, source, place, mode=0o644):
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            os.symlink(os.readlink(source), path)
        else:
            shutil.copyfile(source, path)
            path.chmod(mode)

    def write(self, place, text, mode=0o644):
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)

    def link(self, place, to):
        """A link relative to where it is, unless the two are in different folders of the root (policy 10.5)."""
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        is_near = place.split('/')[0] == to.split('/')[0]
        os.symlink(os.path.relpath(to, os.path.dirname(place)) if is_near else '/' + to, path)

    def squeeze(self, place, data):
        self.write(place + '.gz', gzip.compress(data, 9, mtime=0))

    def alternative(self, link, name, path, slaves):
        words = [f'update-alternatives --install {link} {name} {path} {PRIORITY}']
        words += [f'--slave {link} {name} {path}' for link, name, path in slaves]
        self.scripts['postinst'].append(' \\\n        '.join(words))
        self.scripts['prerm'].append(f'update-alternatives --remove {name} {path}')


def files_below(folder, part):
    return [path for path in sorted((folder / part).rglob('*')) if not path.is_dir()]


def put_tree(package, folder, part, wanted=lambda path: True):
    for path in files_below(folder, part):
        if wanted(path):
            package.put(path, f'{package.prefix}/{path.relative_to(folder)}', 0o755 if path.stat().st_mode & 0o100 else 0o644)


def is_library(path):
    return path.name.endswith('.so.1')


def make_library(package, folder):
    put_tree(package, folder, 'lib', is_library)


def make_compat(package, folder):
    put_tree(package, folder, 'lib/murmur/compat')
    # It only passes calls of programs on to Open MPI's library for C, and calls nothing of libc's.
    package.write(f'usr/share/lintian/overrides/{package.name}', f'{package.name}: library-not-linked-against-libc '
                  f'[{package.prefix}/lib/murmur/compat/libmpi_cxx.so.*]\n')


def page_of(folder, name, section=1):
    """The text of a page, through links."""
    text = (folder / f'share/man/man{section}/{name}.{section}').read_text()
    return (folder / 'share/man' / text.split()[1]).read_text() if text.startswith('.so ') else text


def make_development(package, folder):
    put_tree(package, folder, 'include')
    put_tree(package, folder, 'lib', lambda path: not is_library(path) and '/compat/' not in str(path) and
             '/pkgconfig/' not in str(path))
    put_tree(package, folder, 'share/murmur/fortran')
    triplet, prefix = package.target.triplet, package.prefix
    for path in files_below(folder, 'lib/pkgconfig'):  # at another place than in the installation
        text = re.sub(r'(?m)^prefix=.*', f'prefix=/{prefix}', path.read_text())
        package.write(f'usr/lib/{triplet}/pkgconfig/{path.name}', text)
    package.link(f'usr/lib/{triplet}/cmake/Murmur', f'{prefix}/lib/cmake/Murmur')
    for name in WRAPPERS:
        path = folder / 'bin' / name
        package.put(path, f'{prefix}/bin/{name}', 0o755)
        package.link(f'usr/bin/{name}.murmur', f'{prefix}/bin/{name}')
        package.squeeze(f'usr/share/man/man1/{name}.murmur.1', page_of(folder, name).encode())
    package.alternative(f'/usr/include/{triplet}/mpi', f'mpi-{triplet}', f'/{prefix}/include', [
        (f'/usr/lib/{triplet}/libmpi.so', f'libmpi.so-{triplet}', f'/{prefix}/lib/libmpi_abi.so'),
        (f'/usr/lib/{triplet}/pkgconfig/mpi.pc', f'mpi.pc-{triplet}', f'/usr/lib/{triplet}/pkgconfig/murmur.pc')])
    package.alternative('/usr/bin/mpicc', 'mpi', '/usr/bin/mpicc.murmur', [
        (f'/usr/bin/{name}', name, f'/usr/bin/{name}.murmur') for name in WRAPPERS[1:]] + [
        (f'/usr/share/man/man1/{name}.1.gz', f'{name}.1.gz', f'/usr/share/man/man1/{name}.murmur.1.gz')
        for name in WRAPPERS])


def make_launcher(package, folder):
    prefix = package.prefix
    for name in (*LAUNCHERS, 'smpd', 'murmur-info'):
        package.put(folder / 'bin' / name, f'{prefix}/bin/{name}', 0o755)
        package.link(f'usr/bin/{name}' if name == 'murmur-info' else f'usr/bin/{name}.murmur', f'{prefix}/bin/{name}')
    for name, section, installed in (('mpiexec', 1, 'mpiexec.murmur'), ('mpirun', 1, 'mpirun.murmur'),
                                     ('smpd', 8, 'smpd.murmur'), ('murmur-info', 1, 'murmur-info'), ('murmur', 7, 'murmur')):
        package.squeeze(f'usr/share/man/man{section}/{installed}.{section}', page_of(folder, name, section).encode())
    package.link('usr/share/man/man1/smpd.murmur.1.gz', 'usr/share/man/man8/smpd.murmur.8.gz')
    package.link(f'{prefix}/share/man', 'usr/share/murmur-mpi/man')
    unit = (folder / 'share/murmur/smpd.service').read_text()
    package.write('usr/lib/systemd/user/murmur-smpd.service',
                  re.sub(r'(?m)^ExecStart=\S+', 'ExecStart=/usr/bin/smpd.murmur', unit))
    names = [f'{name}.murmur' for name in LAUNCHERS]
    share = folder / 'share'
    bash = (share / 'bash-completion/completions/mpiexec').read_text()
    for name in names:
        package.write(f'usr/share/bash-completion/completions/{name}',
                      re.sub(r'(?m)^complete .*', f'complete -o filenames -F _murmur_mpiexec {name}', bash))
    package.write('usr/share/zsh/vendor-completions/_mpiexec.murmur', (share / 'zsh/site-functions/_mpiexec').read_text()
                  .replace('#compdef mpiexec mpirun', '#compdef ' + ' '.join(names)))
    package.write('usr/share/fish/vendor_completions.d/mpiexec.murmur.fish',
                  (share / 'fish/vendor_completions.d/mpiexec.fish').read_text()
                  .replace('-c mpiexec', '-c mpiexec.murmur').replace('-c mpirun -w mpiexec', '-c mpirun.murmur -w mpiexec.murmur'))
    package.alternative('/usr/bin/mpirun', 'mpirun', '/usr/bin/mpirun.murmur', [
        ('/usr/share/man/man1/mpirun.1.gz', 'mpirun.1.gz', '/usr/share/man/man1/mpirun.murmur.1.gz'),
        ('/usr/bin/mpiexec', 'mpiexec', '/usr/bin/mpiexec.murmur'),
        ('/usr/share/man/man1/mpiexec.1.gz', 'mpiexec.1.gz', '/usr/share/man/man1/mpiexec.murmur.1.gz')])


def make_documentation(package, folder):
    """The pages lie where mpiexec -man looks; those of functions are also found by man, as MPI_Send.3murmur."""
    for path in files_below(folder, 'share/man'):
        text, section = path.read_text(), path.parent.name
        place = f'usr/share/murmur-mpi/man/{section}/{path.name}'
        if text.startswith('.so '):
            package.link(place + '.gz', f'usr/share/murmur-mpi/man/{text.split()[1]}.gz')
        else:
            package.squeeze(place, text.encode())
        if section == 'man3':
            package.link(f'usr/share/man/man3/{path.name}murmur.gz', place + '.gz')
    for path in files_below(folder, 'share/doc/murmur/html'):
        package.put(path, f'usr/share/doc/{package.name}/html/{path.name}')
    package.put(folder / 'share/doc/murmur/README.md', f'usr/share/doc/{package.name}/README.md')


MAKERS = {'libmurmur-mpi1': make_library, 'murmur-mpi-compat': make_compat, 'libmurmur-mpi-dev': make_development,
          'murmur-mpi-bin': make_launcher, 'murmur-mpi-doc': make_documentation}


def fortran_dependency(folder):
    """The compilers that read the module files, by the version that these name; empty without module files."""
    for path in sorted(folder.glob('lib/murmur/modules/GNU_Fortran*/mpi.mod')):
        number = re.search(rb"module version '(\d+)'", gzip.decompress(path.read_bytes()))
        major = re.search(r'_(\d+)\.[\d.]+$', path.parent.name)
        if number and major:
            return f', gfortran-{major.group(1)} | gfortran-mod-{number.group(1).decode()}'
    return ''


def dependencies(name, libc, fortran):
    own = f'(= {tree.version()})'
    return {
        'libmurmur-mpi1': {'Depends': libc, 'Recommends': 'libsodium23 | libsodium26'},
        'murmur-mpi-compat': {'Depends': f'{libc}, libmurmur-mpi1 {own}'},
        'libmurmur-mpi-dev': {'Depends': f'libmurmur-mpi1 {own}{fortran}', 'Recommends': 'gcc, murmur-mpi-bin',
                              'Suggests': 'murmur-mpi-doc'},
        'murmur-mpi-bin': {'Depends': libc, 'Recommends': 'libsodium23 | libsodium26, libhwloc15, libmurmur-mpi1',
                           'Suggests': 'murmur-mpi-compat, murmur-mpi-doc, openssh-client'},
        'murmur-mpi-doc': {'Suggests': 'murmur-mpi-bin'},
    }[name]


def control(package, libc, fortran):
    section, multi_arch, summary, text = PACKAGES[package.name]
    size = sum(path.stat().st_size for path in package.root.rglob('*') if path.is_file() and not path.is_symlink())
    architecture = 'all' if package.name.endswith('-doc') else package.target.debian
    fields = {'Package': package.name, 'Source': 'murmur', 'Version': tree.version(), 'Architecture': architecture,
              'Maintainer': MAINTAINER, 'Installed-Size': str((size + 1023) // 1024),
              **dependencies(package.name, libc, fortran), 'Section': section, 'Priority': 'optional', 'Multi-Arch': multi_arch}
    lines = [f'{key}: {value}' for key, value in fields.items()] + [f'Description: {summary}']
    return '\n'.join(lines + [' ' + line for line in text.strip().split('\n')]) + '\n'


def finish(package, libc, fortran):
    """What all packages have: copyright, changelog, checksums, the control files."""
    doc = f'usr/share/doc/{package.name}'
    licence = (tree.ROOT / 'LICENSE').read_text().strip().split('\n')
    package.write(f'{doc}/copyright', COPYRIGHT + '\n'.join(f' {line}' if line.strip() else ' .' for line in licence) + '\n')
    package.squeeze(f'{doc}/changelog', (f'murmur ({tree.version()}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n'
                                         f' -- {MAINTAINER}  {email.utils.formatdate(tree.epoch())}\n').encode())
    if package.name == 'libmurmur-mpi1':
        package.squeeze(f'{doc}/NEWS', (tree.ROOT / 'CHANGELOG.md').read_bytes())
    files = sorted(path for path in package.root.rglob('*') if path.is_file() and not path.is_symlink())
    sums = ''.join(f'{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(package.root)}\n' for path in files)
    package.write('DEBIAN/control', control(package, libc, fortran))
    package.write('DEBIAN/md5sums', sums)
    for name, condition in (('postinst', '[ "$1" = configure ]'), ('prerm', '[ "$1" = remove ] || [ "$1" = deconfigure ]')):
        if package.scripts[name]:
            body = '\n    '.join(package.scripts[name])
            package.write(f'DEBIAN/{name}', f'#!/bin/sh\nset -e\nif {condition}; then\n    {body}\nfi\n', 0o755)
    tree.set_times(package.root)


def make(out, folder, target):
    libc = 'libc6 (>= {}.{})'.format(*tree.glibc(folder, target))
    made = []
    with tempfile.TemporaryDirectory() as work:
        for name, maker in MAKERS.items():
            package = Package(pathlib.Path(work), name, target, f'usr/lib/{target.triplet}/murmur')
            package.root.mkdir()
            maker(package, folder)
            finish(package, libc, fortran_dependency(folder))
            architecture = 'all' if name.endswith('-doc') else target.debian
            path = out / f'{name}_{tree.version()}_{architecture}.deb'
            subprocess.run(['dpkg-deb', '--root-owner-group', '-Zxz', '--build', package.root, path], check=True,
                           capture_output=True, env=dict(os.environ, SOURCE_DATE_EPOCH=str(tree.epoch())))
            made.append(path)
    return made
