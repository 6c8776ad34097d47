# SPDX-License-Identifier: BSD-3-Clause
"""Reads functions.txt, constants.txt and types.txt into objects."""

import pathlib
import re

from kinds import KINDS, Kind

HERE = pathlib.Path(__file__).resolve().parent


class Problem(Exception):
    """A mistake in the description; names the file and line."""


class Parameter:
    """One parameter as written: name, kind, direction ('', '>' or '*') and marks."""

    def __init__(self, text):
        match = re.fullmatch(r'(\w+):(\w+)(?:\(([^)]*)\))?((?:\[\w*\])*)([>*]?)(\??)(\+?)(@root)?(?:/(\w+))?', text)
        if not match:
            raise ValueError(f'cannot read the parameter {text!r}')
        (self.name, self.kind_name, self.c_type, shape, self.direction, optional, large_only, at_root,
         self.unless_in_place) = match.groups()
        self.lengths = re.findall(r'\[(\w*)\]', shape)
        self.is_array = bool(shape)
        self.is_optional = bool(optional)
        self.is_large_only = bool(large_only)
        self.is_at_root = bool(at_root)
        if self.kind_name in ('fn', 'strings', 'opaque'):
            self.kind = Kind(self.c_type, show='POINTER')
        elif self.kind_name in KINDS:
            self.kind = KINDS[self.kind_name]
        else:
            raise ValueError(f'unknown kind {self.kind_name!r}')

    @property
    def is_handle(self):
        return self.kind.find is not None

    @property
    def is_input(self):
        """A value or array that the call only reads."""
        return not self.direction

    def type_in(self, large):
        """The C type of one value in this form."""
        if self.kind_name == 'fn' and large and self.c_type in LARGE_FUNCTIONS:
            return LARGE_FUNCTIONS[self.c_type]
        return self.kind.large if large else self.kind.small

    @property
    def differs(self):
        """Whether the C type is another one in the large-count form."""
        return self.is_large_only or self.type_in(False) != self.type_in(True)

    def declare(self, large, name=None):
        """The C declaration in this form."""
        name = name or self.name
        kind = self.type_in(large)
        if self.kind_name == 'strings':
            return spaced(kind[:-3], name) + '[]' if kind.endswith(' []') else spaced(kind, name)
        if self.is_array:
            lengths = ''.join(f'[{length}]' if length.isdigit() else '[]' for length in self.lengths)
            if self.kind_name == 'status':
                return spaced(kind, '*' + name)
            if self.kind_name == 'weight':  # compilers warn of MPI_UNWEIGHTED where an array is declared
                return ('const ' if self.is_input else '') + spaced(kind, '*' + name)
            return ('const ' if self.is_input else '') + spaced(kind, name) + lengths
        if self.kind_name in ('buf', 'pointer', 'string'):
            return ('const ' if self.is_input else '') + spaced(kind, name)
        if self.kind_name == 'status':
            return ('const ' if self.is_input else '') + spaced(kind, '*' + name)
        return spaced(kind, '*' + name if self.direction else name)


LARGE_FUNCTIONS = {
    'MPI_User_function *': 'MPI_User_function_c *',
    'MPI_Datarep_conversion_function *': 'MPI_Datarep_conversion_function_c *',
}


def spaced(c_type, name):
    return c_type + name if c_type.endswith('*') else f'{c_type} {name}'


class Function:
    def __init__(self, flag, name, parameters, attributes, chapter):
        self.is_exported = flag == '+'
        self.name = 'MPI_' + name
        self.body = 'mur_mpi_' + name.lower()
        self.has_varargs = bool(parameters) and parameters[-1] == '...'
        self.parameters = [Parameter(p) for p in parameters if p != '...']
        self.chapter = chapter
        self.is_any_time = 'any time' in attributes
        self.is_strict = 'too large is an error' in attributes
        self.raises_on_file_null = 'raises on MPI_FILE_NULL' in attributes
        self.also_large = 'also _c' in attributes
        self.tells_form = 'tells form' in attributes
        self.fails_together = 'fails together' in attributes
        self.counts_calls = 'counts its calls' in attributes
        results = [a[len('returns '):] for a in attributes if a.startswith('returns ')]
        self.result = results[0] if results else None  # None: an error code
        known = {'any time', 'too large is an error', 'raises on MPI_FILE_NULL', 'also _c', 'tells form',
                 'fails together', 'counts its calls'}
        for attribute in attributes:
            if attribute not in known and not attribute.startswith('returns '):
                raise ValueError(f'unknown attribute {attribute!r}')
        names = {p.name for p in self.parameters}
        for p in self.parameters:
            for length in p.lengths:
                if length and length not in ('size', 'group') and not length.isdigit() and length not in names:
                    raise ValueError(f'{p.name} has the length {length!r}, which is no parameter')

    @property
    def has_large(self):
        return self.also_large or any(p.differs for p in self.parameters)

    @property
    def forms(self):
        return [False, True] if self.has_large else [False]

    @property
    def has_own_bodies(self):
        """Whether the forms differ too much for one body."""
        return any(p.is_large_only or (p.kind_name == 'fn' and p.differs) or
                   (p.is_array and p.differs and not p.is_input) for p in self.parameters)

    def name_in(self, large):
        return self.name + '_c' if large else self.name

    def parameters_in(self, large):
        return [p for p in self.parameters if large or not p.is_large_only]

    def prototype(self, large, prefix=''):
        """The C declaration without the semicolon."""
        parameters = [p.declare(large) for p in self.parameters_in(large)]
        if self.has_varargs:
            parameters.append('...')
        return f'{spaced(self.result or "int", prefix + self.name_in(large))}({", ".join(parameters) or "void"})'


class Constant:
    def __init__(self, name, value, group, c_type, meaning):
        self.name, self.value, self.group, self.c_type, self.meaning = name, value, group, c_type, meaning


def logical_lines(name):
    """Lines without comments; an indented line continues the one before. Yields (number, text)."""
    held = None
    for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
        if line.startswith('#') or not line.strip():
            continue
        if line.startswith(' ') and held:
            held = (held[0], held[1] + ' ' + line.strip())
            continue
        if held:
            yield held
        held = (number, line.rstrip())
    if held:
        yield held


def read_functions():
    functions, chapter = [], None
    for number, line in logical_lines('functions.txt'):
        match = re.fullmatch(r'chapter (\w+): (.*)', line)
        if match:
            chapter = match.group(1)
            continue
        match = re.fullmatch(r'([+-]) (\w+)\((.*)\)(?:; (.*))?', line)
        try:
            if not match or not chapter:
                raise ValueError(f'cannot read {line!r}')
            flag, name, parameters, attributes = match.groups()
            functions.append(Function(flag, name, parameters.split(', ') if parameters else [],
                                      attributes.split(', ') if attributes else [], chapter))
        except ValueError as problem:
            raise Problem(f'api/functions.txt:{number}: {problem}') from None
    return functions


def read_constants():
    constants, group, c_type = [], None, None
    for number, line in logical_lines('constants.txt'):
        match = re.fullmatch(r'group (\w+): (.*)', line)
        if match:
            group, c_type = match.groups()
            continue
        words = line.split(None, 2)
        if len(words) < 2 or not group:
            raise Problem(f'api/constants.txt:{number}: cannot read {line!r}')
        rest = words[2] if len(words) > 2 else ''
        constants.append(Constant(words[0], words[1], group, rest if c_type == 'mixed' else c_type,
                                  '' if c_type == 'mixed' else rest))
    return constants


def read_types():
    """Pairs of (word, rest) in the order of the file."""
    return [tuple(line.split(None, 1)) for _, line in logical_lines('types.txt')]
