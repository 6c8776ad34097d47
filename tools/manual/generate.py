#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the manual and the shells' completion: generate.py DIRECTORY VERSION

Below the directory, which is laid out as share/ of an installation:
  man/man3/MPI_Send.3 ...            a page for each function, program and for the library (man/man1, man7, man8)
  doc/murmur/html/index.html ...     the same as HTML
  bash-completion/, zsh/, fish/      completion of mpiexec's and mpijob's command lines
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'api'))

import commands
import completion
import completion_mpijob
import functions
import model
import roff
import webpages


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')


def remove_old(directory, kept):
    """Pages that an earlier run has made."""
    for path in directory.rglob('*') if directory.exists() else ():
        if path.is_file() and path not in kept:
            path.unlink()


def files(version):
    pages = commands.pages() + functions.pages()
    for page in pages:
        for i, name in enumerate(page.names):
            yield f'man/man{page.section}/{name}.{page.section}', roff.link(page) if i else roff.page(page, version)
    for name, text in webpages.Writer(pages, version).files():
        yield f'doc/murmur/html/{name}', text
    yield from completion.files()
    yield from completion_mpijob.files()


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__.strip())
    directory = pathlib.Path(arguments[0])
    try:
        made = {directory / name: text for name, text in files(arguments[1])}
    except (functions.Problem, model.Problem, ValueError) as problem:
        sys.exit(f'tools/manual: {problem}')
    for path, text in made.items():
        write(path, text)
    for folder in ('man', 'doc/murmur/html'):
        remove_old(directory / folder, made)


if __name__ == '__main__':
    main(sys.argv[1:])
