# SPDX-License-Identifier: BSD-3-Clause
"""The pages of commands and of the whole library, from docs/manual/NAME.txt and the tables of options and settings.

  page NAME SECTION: SUMMARY    the first line; `names NAME...` may follow, of what else leads here
  ## HEADING                    a section
  - TERM: TEXT                  an item; its text goes on in lines that begin with two blanks
      CODE                      lines that begin with four blanks
  @topics                       a section for each topic of mpiexec -help
  @settings PART                the settings of a part of the library
  TEXT                          a paragraph; a blank line parts paragraphs
"""

import pathlib
import re

import tables
from document import Code, Items, Page, Paragraph

PROSE = pathlib.Path(__file__).resolve().parents[2] / 'docs/manual'
NOT_PAGES = ('functions.txt', 'parameters.txt')


def literal(text):
    """A word that is shown as it is, whatever is in it."""
    return f'`{text}`'


def option_items(options):
    for option in options:
        value = f' *{option.value}*' if option.value and re.match(r'\w', option.value) else \
            f' {option.value}' if option.value else ''
        yield ', '.join(literal('-' + name) for name in option.names) + value, option.help + '.'


def setting_items(part):
    for setting in tables.settings():
        if setting.part != part:
            continue
        facts = []
        if setting.unit:
            limits = '' if (setting.low, setting.high) in ((0, 1), (-1, 1)) or setting.high == (1 << 63) - 1 else \
                f' from {setting.low} to {setting.high}'
            facts.append(f'{setting.unit}{limits}, default {setting.default}')
        if not setting.can_change:
            facts.append('read at start only')
        if setting.is_equal:
            facts.append('the same at all ranks')
        yield literal(setting.name), setting.meaning + ('. (' + '; '.join(facts) + '.)' if facts else '.')


class Reader:
    def __init__(self, path):
        self.path, self.page, self.heading, self.blocks = path, None, None, []
        self.paragraph, self.code, self.pairs = [], [], []

    def end_block(self):
        if self.paragraph:
            self.blocks.append(Paragraph(' '.join(self.paragraph)))
        if self.code:
            self.blocks.append(Code(self.code))
        if self.pairs:
            self.blocks.append(Items(self.pairs))
        self.paragraph, self.code, self.pairs = [], [], []

    def end_section(self):
        self.end_block()
        if self.heading:
            self.page.add(self.heading, self.blocks)
        self.blocks = []

    def directive(self, word, rest):
        self.end_block()
        if word == '@settings':
            self.blocks.append(Items(list(setting_items(rest))))
        elif word == '@topics':
            for topic in tables.topics():
                self.end_section()
                self.heading = topic.title.upper()
                self.blocks = [Items(list(option_items(topic.options)))] if topic.options else []
                self.blocks += [Paragraph(text) for text in topic.text.split('\n') if text]
        else:
            raise ValueError(f'unknown directive {word}')

    def read_line(self, line):
        first = re.fullmatch(r'page ([\w-]+) (\d): (.*)', line)
        if first:
            self.page = Page(*first.groups())
        elif line.startswith('names '):
            self.page.names += line.split()[1:]
        elif line.startswith('## '):
            self.end_section()
            self.heading = line[3:]
        elif line.startswith('@'):
            self.directive(*line.partition(' ')[::2])
        elif line.startswith('    '):
            if self.paragraph:
                self.end_block()
            self.code.append(line[4:])
        elif line.startswith('- '):
            if self.paragraph or self.code:
                self.end_block()
            self.pairs.append(tuple(line[2:].split(': ', 1)))
        elif line.startswith('  ') and self.pairs:
            self.pairs[-1] = (self.pairs[-1][0], f'{self.pairs[-1][1]} {line.strip()}')
        elif line:
            if self.code or self.pairs:
                self.end_block()
            self.paragraph.append(line)
        elif not self.pairs:
            self.end_block()

    def read(self):
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            try:
                if not line.startswith('# '):
                    self.read_line(line)
            except (ValueError, AttributeError, TypeError) as problem:
                raise ValueError(f'docs/manual/{self.path.name}:{number}: {problem}') from None
        self.end_section()
        return self.page


def pages():
    return [Reader(path).read() for path in sorted(PROSE.glob('*.txt')) if path.name not in NOT_PAGES]
