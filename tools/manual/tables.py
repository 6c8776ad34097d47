# SPDX-License-Identifier: BSD-3-Clause
"""Reads the tables of options (launch/options) and of settings (src/base/settings.c) out of the C sources, so that pages
can be made before anything is compiled, and for other machines."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRING = r'"(?:[^"\\]|\\.)*"'
STRINGS = re.compile(STRING)
LIMITS = {'LONG_MAX': (1 << 63) - 1, 'INT_MAX': (1 << 31) - 1, 'MUR_FORGIVING': 0, 'MUR_STRICT': 1}


class Option:
    def __init__(self, name, value, help):
        self.names, self.value, self.help = [name], value, help


class Topic:
    """What mpiexec -help knows by this name: options and a text, one of which may be missing."""

    def __init__(self, name, title, options, text):
        self.name, self.title, self.options, self.text = name, title, options, text


class Setting:
    def __init__(self, name, part, meaning, unit='', default='', low=None, high=None, can_change=True, is_equal=False):
        self.name, self.part, self.meaning, self.unit, self.default = name, part, meaning, unit, default
        self.low, self.high, self.can_change, self.is_equal = low, high, can_change, is_equal


def text_of(literals):
    """The value of adjacent string literals."""
    return ''.join(part[1:-1] for part in STRINGS.findall(literals)).replace('\\"', '"').replace('\\n', '\n') \
        .replace('\\\\', '\\')


def fields(row):
    """The expressions between the braces of an initialiser, split at commas that are not within strings or brackets."""
    parts, depth, at = [''], 0, 0
    while at < len(row):
        string = STRINGS.match(row, at)
        if string:
            parts[-1] += string.group()
            at = string.end()
            continue
        depth += (row[at] == '(') - (row[at] == ')')
        if row[at] == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += row[at]
        at += 1
    return [' '.join(part.split()) if '"' not in part else part.strip() for part in parts]


def rows(source, declaration):
    """The rows of the array that is declared like this, without the last one."""
    body = re.search(re.escape(declaration) + r'\[\] = \{\n(.*?)\n\};', source, re.S)
    if not body:
        raise ValueError(f'there is no table {declaration}')
    for row in re.finditer(r'\{((?:' + STRING + r'|[^{}"])*)\}', body.group(1)):
        values = fields(row.group(1))
        if values[0] != 'NULL':
            yield values


def value_of(field):
    return None if field == 'NULL' else text_of(field)


def number_of(text):
    text = re.sub(r'(?<=\d)L\b', '', text)
    if not re.fullmatch(r'[-\d <]+', text):
        return LIMITS[text]
    base, _, shift = text.partition('<<')
    return int(base) << int(shift or 0)


def options():
    """Tables of options by their names in C."""
    tables = {}
    for path in sorted((ROOT / 'launch/options').glob('*.c')):
        source = path.read_text()
        for name in re.findall(r'^const struct mur_option (mur_\w+_options)\[\] = ', source, re.M):
            table = tables[name] = []
            for option, value, _, help in rows(source, f'const struct mur_option {name}'):
                if help == 'NULL' and table:
                    table[-1].names.append(text_of(option))
                else:
                    table.append(Option(text_of(option), value_of(value), text_of(help)))
    return tables


def topics():
    source = (ROOT / 'launch/options/help.c').read_text()
    texts = {name: text_of(literals) for name, literals in
             re.findall(r'static const char (\w+)\[\] =((?:\s*' + STRING + r')+);', source)}
    tables = options()
    return [Topic(text_of(name), text_of(title), tables.get(table, []), texts.get(text, ''))
            for name, title, table, text in rows(source, 'const struct mur_topic mur_topics')]


def settings():
    source = (ROOT / 'src/base/settings.c').read_text()
    found = [Setting(text_of(name), text_of(part), text_of(meaning), text_of(unit), number_of(default), number_of(low),
                     number_of(high), change == 'MUR_ANY_TIME', equal == 'true')
             for name, part, unit, default, low, high, _, change, equal, meaning in
             rows(source, 'const struct mur_setting mur_setting_table')]
    return found + [Setting(*(text_of(field) for field in row)) for row in
                    rows(source, 'const struct mur_text_setting mur_text_setting_table')]
