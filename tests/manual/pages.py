#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual is complete and sound: pages.py SOURCES BUILD MPIEXEC MURMUR-INFO

Every function that the library exports has a page that names it and each of its parameters; every option of mpiexec, of
smpd and of the compilers' wrappers, and every setting that murmur-info prints, stands in its page; links lead to pages; no
page is longer than it should be; man formats each without a warning; man -k finds them; mpiexec -man shows one, with
man(1) and without.
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCES, BUILD, MPIEXEC, INFO = map(pathlib.Path, sys.argv[1:5])
sys.path[:0] = [str(SOURCES / 'api'), str(SOURCES / 'tools/manual')]
import model
import tables

LINES = 450  # of the longest page's source, that of mpiexec
MAN, HTML = BUILD / 'share/man', BUILD / 'share/doc/murmur/html'
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)


def source(name, section):
    """The page's text, through links."""
    path = MAN / f'man{section}/{name}.{section}'
    if not path.exists():
        check(False, f'there is no page {name}({section})')
        return ''
    text = path.read_text(encoding='ascii')
    if text.startswith('.so '):
        target = MAN / text.split()[1]
        check(target.exists(), f'{name}({section}) leads to {target}, which is not there')
        return target.read_text(encoding='ascii') if target.exists() else ''
    return text


def plain(text):
    return re.sub(r'\\f[BIP]', '', text).replace('\\-', '-').replace('\\(aq', "'").replace('\\&', '')


def check_functions():
    for function in model.read_functions():
        for large in function.forms:
            name = function.name_in(large)
            text = plain(source(name, 3))
            check(re.search(rf'\b{name}\b', text.split('.SH')[1]), f'{name}: the page does not name it')
            check(f'{name}(' in text, f'{name}: the page has no prototype')
            for parameter in function.parameters_in(large):
                check(f'\n{parameter.name} (' in text, f'{name}: the page does not explain {parameter.name}')


def check_options():
    text = plain(source('mpiexec', 1))
    for topic in tables.topics():
        for option in topic.options:
            for name in option.names:
                check(re.search(rf'(?m)(^|, )-{re.escape(name)}(,| |$)', text), f'mpiexec(1) has no -{name}')
    # The tables as the program has them: what it prints must be what was read from its source.
    printed = subprocess.run([MPIEXEC, '-help', 'all'], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r'(?:^  |, )-([\w?-]+)', '\n'.join(re.findall(r'(?m)^  -.*', printed))):
        check(re.search(rf'(?m)(^|, )-{re.escape(name)}(,| |$)', text), f'mpiexec -help has -{name}, mpiexec(1) does not')
    smpd = plain(source('smpd', 8))
    known = re.findall(r'strcmp\((?:name|\*line.next), "-*([\w-]+)"\)', (SOURCES / 'launch/options/smpd.c').read_text())
    for name in set(known) - {'smpd', 'daemon', 'phrase-fd'}:  # the program's name; what it tells itself
        check(re.search(rf'-{name}\b', smpd), f'smpd(8) has no -{name}')
    mpijob = plain(source('mpijob', 1))
    known = {name for path in (SOURCES / 'mpijob/cli').glob('*.c')
             for name in re.findall(r'strcmp\(word, "-([\w-]+)"\)', path.read_text())}
    for name in known:
        check(re.search(rf'-{name}\b', mpijob), f'mpijob(1) has no -{name}')
    check(len(known) > 10, 'the options of mpijob are not found in its sources')
    wrapper = plain(source('mpicc', 1))
    for name in re.findall(r'(?m)^ +(-[\w|: -]+)\) *(?:show|print)', (SOURCES / 'tools/wrapper.in').read_text()):
        check(any(one.strip() in wrapper for one in name.split('|')), f'mpicc(1) has none of {name}')


def check_settings():
    text = plain(source('murmur', 7))
    told = json.loads(subprocess.run([INFO, '--json'], capture_output=True, text=True, check=True).stdout)
    names = set(re.findall(r'MUR_\w+', json.dumps(told['settings'])))
    check(len(names) > 30, f'murmur-info tells only {len(names)} settings')
    for name in names:
        check(f'\n{name}\n' in text, f'murmur(7) has no {name}')
    everything = text + plain(source('mpiexec', 1)) + plain(source('smpd', 8))
    for path in [*SOURCES.glob('src/**/*.c'), *SOURCES.glob('launch/**/*.c')]:
        for name in re.findall(r'getenv\("(MUR_\w+)"\)', path.read_text()):
            check(name in everything, f'no page has {name}, which {path} reads')


def check_sources():
    for path in MAN.rglob('*.[1-8]'):
        text = path.read_text(encoding='ascii')
        check(text.count('\n') <= LINES, f'{path.name} has {text.count(chr(10))} lines, at most {LINES} are wanted')
        for line in text.split('\n'):
            check(len(line) < 2000, f'{path.name} has a line of {len(line)} characters')
        for name, section in re.findall(r'\\fB([\w-]+|MPI_\w+)\\fP\((\d)\)', text.replace('\\-', '-')):
            check((MAN / f'man{section}/{name}.{section}').exists(), f'{path.name} mentions {name}({section})')


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for key, value in attributes if key in ('href', 'src')]


def check_html():
    pages = [path for path in MAN.rglob('*.[1-8]') if not path.read_text().startswith('.so')]
    check(len(list(HTML.glob('*.html'))) == len(pages) + 1, 'there are not as many HTML pages as manual pages')
    for path in HTML.glob('*.html'):
        parser = Links()
        parser.feed(path.read_text(encoding='utf-8'))
        for link in parser.found:
            check(':' not in link, f'{path.name} needs {link}, which is not in the file system')
            check((HTML / link).exists(), f'{path.name} leads to {link}')
    index = (HTML / 'index.html').read_text()
    for path in pages:
        check(f'{path.name}.html' in index, f'index.html has no {path.name}')


def check_man():
    if not shutil.which('man') or not shutil.which('groff'):
        print('left out: man --warnings, since there is no man or groff')
        return
    environment = dict(os.environ, MANWIDTH='80', LC_ALL='C.UTF-8', MANROFFSEQ='')
    for path in sorted(MAN.rglob('*.[1-8]')):
        if path.read_text().startswith('.so'):
            continue
        done = subprocess.run(['man', '--warnings', '-l', path], capture_output=True, text=True, env=environment)
        check(done.returncode == 0 and not done.stderr, f'man says of {path.name}: {done.stderr[:300]}')
    if shutil.which('mandb'):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / 'man'
            shutil.copytree(MAN, copy)
            subprocess.run(['mandb', '-cqu', copy], capture_output=True, check=False)
            found = subprocess.run(['man', '-M', copy, '-k', 'MPI_Isend'], capture_output=True, text=True, env=environment)
            check('start to send a message' in found.stdout, f'man -k MPI_Isend says {found.stdout or found.stderr}')


def check_shown():
    shown = subprocess.run([MPIEXEC, '-man', 'mpi_isend'], capture_output=True, text=True,
                           env={'PATH': '/nowhere', 'LC_ALL': 'C'})
    for part in ('MPI_Isend, MPI_Isend_c', '\nSYNOPSIS\n', 'int MPI_Issend(const void *buf', '\nERRORS\n'):
        check(shown.returncode == 0 and part in shown.stdout, f'mpiexec -man without man does not show {part!r}')
    check('\\' not in shown.stdout and '\n.' not in shown.stdout, 'mpiexec -man without man shows requests of roff')
    for text in shown.stdout.split('\n'):
        check(len(text) <= 86, f'mpiexec -man without man prints a line of {len(text)} columns')
    if shutil.which('man'):
        shown = subprocess.run([MPIEXEC, '-man', 'MPI_Bsend_init'], capture_output=True, text=True)
        check(shown.returncode == 0 and 'MPI_Bsend_init' in shown.stdout, f'mpiexec -man: {shown.stderr}')
    shown = subprocess.run([MPIEXEC, '-man', 'nonsense'], capture_output=True, text=True)
    check(shown.returncode == 2 and "no page 'nonsense'" in shown.stderr, f'mpiexec -man nonsense: {shown.stderr}')


for part in (check_functions, check_options, check_settings, check_sources, check_html, check_man, check_shown):
    part()
print('\n'.join(wrong[:60]) if wrong else 'the manual is complete')
sys.exit(1 if wrong else 0)
