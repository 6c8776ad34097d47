# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the manual, independent of how they are written (roff.py, webpages.py).

A page has sections, a section has blocks. Inline text may mark `words` as literal and *words* as to be replaced; names of
MPI functions and of other pages, as in mpiexec(1), are found without marks."""

import re

INLINE = re.compile(r'`([^`]+)`|\*(\w[^*\n]*)\*|\b(P?MPI_[A-Z]\w*)|\b([A-Za-z][\w-]*)\(([1-8])\)')


class Paragraph:
    def __init__(self, text):
        self.text = ' '.join(text.split())


class Code:
    """Lines that are shown as they are."""

    def __init__(self, lines):
        self.lines = lines


class Items:
    """Pairs of a term and its text. Terms are inline text."""

    def __init__(self, pairs):
        self.pairs = pairs


class Page:
    def __init__(self, name, section, summary, names=()):
        self.name, self.section, self.summary = name, section, summary
        self.names = list(names) or [name]  # of all that the page describes; the first is the page's own
        self.sections = []  # pairs of a heading and blocks

    def add(self, heading, blocks):
        if blocks:
            self.sections.append((heading, blocks))


def inline(text):
    """Pieces of inline text as pairs of a kind and a text: plain, literal, variable, function, or page with its
    section behind a space."""
    at = 0
    for found in INLINE.finditer(text):
        if found.start() > at:
            yield 'plain', text[at:found.start()]
        literal, variable, function, name, section = found.groups()
        if literal:
            yield 'literal', literal
        elif variable:
            yield 'variable', variable
        elif function:
            yield 'function', function
        else:
            yield 'page', f'{name} {section}'
        at = found.end()
    if text[at:]:
        yield 'plain', text[at:]


def wrapped_code(text, indent, width=76):
    """A long prototype as lines, broken after commas."""
    lines, line = [], ''
    for part in re.split(r'(?<=,) ', text):
        if line and len(line) + 1 + len(part) > width:
            lines.append(line)
            line = ' ' * indent + part
        else:
            line = f'{line} {part}' if line else part
    return lines + [line]
