# SPDX-License-Identifier: BSD-3-Clause
"""The pages of section 3, from api/functions.txt and the texts in docs/manual/."""

import pathlib
import re

import fortran
import fortran_modules
import model
from document import Code, Items, Page, Paragraph, wrapped_code

PROSE = pathlib.Path(__file__).resolve().parents[2] / 'docs/manual'
DIRECTIONS = {'': 'in', '>': 'out', '*': 'in, out'}


class Problem(Exception):
    """A mistake in the texts; names the file and line."""


class Entry:
    """What docs/manual/functions.txt says about a page."""

    def __init__(self, names, summary, locality):
        self.names, self.summary, self.locality = names, summary, locality
        self.paragraphs, self.example, self.parameters, self.errors, self.see = [[]], [], {}, [], []

    def read(self, line):
        word, _, rest = line.strip().partition(' ')
        if not word:
            self.paragraphs.append([])
        elif word == 'is':
            self.locality = rest
        elif word == 'param':
            name, text = rest.split(': ', 1)
            self.parameters[name] = text
        elif word == 'error':
            self.errors.append(tuple(rest.split(': ', 1)))
        elif word == 'see':
            self.see += rest.split()
        elif word == '|':
            self.example.append(rest)
        else:
            self.paragraphs[-1].append(line.strip())


def family(word, known):
    """NAME* stands for three functions."""
    name = word.rstrip('*')
    if word == name:
        return [name]
    kin = [name, 'I' + name[0].lower() + name[1:], name + '_init']
    return [one for one in kin if one in known]


def read_entries(known):
    entries, chapter_locality = [], 'local'
    for number, line in enumerate((PROSE / 'functions.txt').read_text().splitlines(), 1):
        if line.startswith('#') or not (line or entries):
            continue
        found = re.fullmatch(r'page ([\w* ]+): (.*)', line)
        if line.startswith('chapter '):
            chapter_locality = 'local'
        elif line.startswith('is '):
            chapter_locality = line[3:]
        elif found:
            names = [name for word in found.group(1).split() for name in family(word, known)]
            entries.append(Entry(names, found.group(2), chapter_locality))
        elif entries and (not line or line.startswith('  ')):
            entries[-1].read(line)
        else:
            raise Problem(f'docs/manual/functions.txt:{number}: cannot read {line!r}')
    return entries


class Meanings:
    """docs/manual/parameters.txt."""

    def __init__(self):
        self.ranges, self.reasons, self.texts = {}, {}, {}
        for number, line in enumerate((PROSE / 'parameters.txt').read_text().splitlines(), 1):
            if line.startswith('#') or not line.strip():
                continue
            head, colon, text = line.partition(':')
            if not colon:
                raise Problem(f'docs/manual/parameters.txt:{number}: cannot read {line!r}')
            if head.startswith('kind '):
                self.add_kind(head[5:], text)
            else:
                for name in head.split(', '):
                    self.texts[name] = text.strip()

    def add_kind(self, kind, text):
        values, _, reasons = text.partition('|')
        self.ranges[kind] = values.strip()
        self.reasons[kind] = [tuple(reason.split(None, 1)) for reason in reasons.split(';') if reason.strip()]

    def text(self, parameter):
        return self.texts.get(f'{parameter.kind_name}.{parameter.name}') or self.texts.get(parameter.name)


# ---- prototypes

def c_lines(functions):
    for function in functions:
        for large in function.forms:
            yield from wrapped_code(function.prototype(large) + ';', 8)


def merged(heads):
    """Declarations of one argument in several procedures, as few as will do."""
    heads = list(dict.fromkeys(heads))
    plain = [head.replace(', ASYNCHRONOUS', '') for head in heads]
    if len(set(plain)) < len(heads):
        return [head + ' [, ASYNCHRONOUS]' if head + ', ASYNCHRONOUS' in heads else head
                for head in dict.fromkeys(plain)]
    return heads


def declared(arguments):
    """Lines that declare arguments; `arguments` maps names with shapes to their declarations."""
    groups = {}
    for name, heads in arguments.items():
        groups.setdefault(tuple(merged(heads)), []).append(name)
    for heads, names in groups.items():
        for i, head in enumerate(heads):
            yield from wrapped_code(f'    {"! or " if i else ""}{head} :: {", ".join(names)}', 8)


def calls_and_declarations(procedures, interface):
    """The calls of all procedures, then the declarations of their arguments."""
    lines, arguments = [], {}
    for procedure in procedures:
        names = [a.name for a in procedure.arguments] + (['ierror'] if procedure.has_ierror else [])
        result = fortran_modules.RESULTS.get(procedure.result)
        call = f'{result + " FUNCTION " if result else ""}{procedure.name()}({", ".join(names)})'
        if call not in lines:
            lines.append(call)
        for argument in procedure.arguments:
            head, name = fortran_modules.declaration(argument, interface)[-1].split(' :: ')
            arguments.setdefault(name, []).append(head)
    yield from (part for call in lines for part in wrapped_code(call, 8))
    if any(p.has_ierror for p in procedures):
        arguments['ierror'] = ['INTEGER, OPTIONAL, INTENT(OUT)' if interface == 'f08' else 'INTEGER, INTENT(OUT)']
    yield from declared(arguments)


def fortran_procedures():
    """Procedures by interface and function."""
    table = {}
    for interface in ('f08', 'f90'):
        for procedure in fortran.procedures(interface):
            table.setdefault((interface, procedure.short), []).append(procedure)
    return table


def add_fortran(page, functions, procedures):
    for interface, heading, first in (('f08', 'FORTRAN 2008', ['USE mpi_f08', '']),
                                      ('f90', 'FORTRAN', ["USE mpi   ! or INCLUDE 'mpif.h'", ''])):
        found = [p for f in functions for p in procedures.get((interface, f.name[4:]), [])]
        if found:
            page.add(heading, [Code(first + list(calls_and_declarations(found, interface)))])


# ---- parameters

def shape_words(parameter):
    if not parameter.is_array:
        return ''
    length = parameter.lengths[0]
    if length == 'size':
        return 'array, one for each process that comm talks to'
    if length == 'group':
        return 'array, one for each process of the group'
    return f'array of {length} elements' if length else 'array'


def conditions(parameter):
    if parameter.is_at_root:
        yield 'significant at the root only'
    if parameter.unless_in_place:
        yield f'not significant where {parameter.unless_in_place} is MPI_IN_PLACE'
    if parameter.is_large_only:
        yield 'in the _c form only'
    if parameter.is_optional and parameter.direction and parameter.kind_name not in ('status', 'error'):
        yield 'may be null'


def parameter_items(entry, functions, meanings):
    seen = {}
    for function in functions:
        for parameter in function.parameters:
            seen.setdefault(parameter.name, parameter)
    pairs = []
    for name, parameter in seen.items():
        text = entry.parameters.get(name) or meanings.text(parameter)
        if not text:
            raise Problem(f'docs/manual: no meaning of {parameter.kind_name}.{name} of {functions[0].name}')
        # What a call gives back is in no range that the caller must keep to.
        limits = meanings.ranges.get(parameter.kind_name, '') if parameter.direction != '>' or \
            parameter.kind_name in ('comparison', 'topology', 'combiner', 'threads') else ''
        if limits.split(',')[0] in text:
            limits = ''
        shape = shape_words(parameter)
        facts = [fact for fact in [text, limits, shape, *conditions(parameter)] if fact]
        pairs.append((f'`{name}` ({DIRECTIONS[parameter.direction]})', '; '.join(facts) + '.'))
    unknown = set(entry.parameters) - set(seen)
    if unknown:
        raise Problem(f'docs/manual/functions.txt: {functions[0].name} has no parameter {sorted(unknown)[0]}')
    return pairs


# ---- who calls it, and errors

def listed(names):
    return names[0] if len(names) == 1 else ', '.join(names[:-1]) + ' and ' + names[-1]


def locality_text(entry, functions):
    word, _, over = entry.locality.partition(' ')
    if word != 'collective':
        return {'local': 'Local: it does not wait for other processes.',
                'nonlocal': 'It may wait for other processes.'}[word]
    over = {'MPI_COMM_WORLD': 'MPI_COMM_WORLD', 'win': 'the group of `win`', 'fh': 'the group that has opened `fh`'}.get(
        over, f'`{over}`')
    text = f'Collective: all processes of {over} call it, in the same order as other collective calls.'
    starting = [f.name for f in functions if re.match(r'MPI_I[a-z]', f.name) and f.name != 'MPI_Init_thread' and
                any(p.kind_name == 'request' for p in f.parameters)]
    preparing = [f.name for f in functions if f.name.endswith('_init')]
    if starting:
        text += f' {listed(starting)} return{"s" if len(starting) == 1 else ""} at once; `request` completes the ' \
                'operation, and the buffers must not be touched until then.'
    if preparing:
        text += f' {listed(preparing)} make{"s" if len(preparing) == 1 else ""} a persistent request, which MPI_Start ' \
                'starts as often as needed.'
    return text


def calling(entry, functions):
    is_tool = functions[0].name.startswith('MPI_T_')
    texts = [locality_text(entry, functions)]
    any_time = [f.name for f in functions if f.is_any_time]
    if is_tool:
        texts.append('It may be called between MPI_T_init_thread and MPI_T_finalize, also without MPI_Init.')
    elif len(any_time) == len(functions):
        texts.append('It may be called at any time, also before MPI_Init and after MPI_Finalize.')
    elif any_time:
        texts.append(f'{listed(any_time)} may be called at any time, also before MPI_Init and after MPI_Finalize.')
    threads = 'Threads may call it at the same time if MPI provides MPI_THREAD_MULTIPLE'
    if len(any_time) == len(functions) and not is_tool:
        threads = 'Threads may call it at the same time'
    if entry.locality.startswith('collective') and not entry.locality.endswith('WORLD'):
        threads += ', but not for the same object'
    elif any(p.kind_name == 'request' and p.direction == '*' for f in functions for p in f.parameters):
        threads += ', but not with the same request'
    texts.append(f'{threads}. It is not safe in signal handlers.')
    return [Paragraph(' '.join(texts))]


def handler_text(functions):
    """Where errors go."""
    kinds = ('file', 'win', 'session', 'comm')
    first = functions[0]
    if first.name.startswith('MPI_T_'):
        return 'An error code is returned; no error handler is called.'
    if all(f.result for f in functions):
        return ''
    if first.raises_on_file_null:
        return 'Errors go to the error handler of MPI_FILE_NULL.'
    for kind in kinds:
        for parameter in first.parameters:
            if parameter.kind_name == kind and parameter.direction != '>' and not parameter.is_array:
                return f'Errors go to the error handler of `{parameter.name}`; if that returns, the call returns the ' \
                       'error code, otherwise MPI_SUCCESS.'
    return 'Errors go to the error handler of MPI_COMM_SELF; if that returns, the call returns the error code, ' \
           'otherwise MPI_SUCCESS.'


def error_items(entry, functions, meanings):
    reasons = {}
    for function in functions:
        for p in function.parameters:
            if p.direction == '>' and p.kind_name != 'buf':
                continue
            for error, reason in meanings.reasons.get(p.kind_name, ()):
                names = reasons.setdefault((error, reason), [])
                if p.name not in names:
                    names.append(p.name)
    by_class = {}
    for (error, reason), names in reasons.items():
        by_class.setdefault(error, []).append(f'{", ".join(f"`{n}`" for n in names)}: {reason}')
    for error, reason in entry.errors:
        by_class.setdefault(error, []).append(reason)
    if functions[0].name.startswith('MPI_T_') and functions[0].name != 'MPI_T_init_thread':
        by_class = {error: by_class[error] for error in by_class if error.startswith('MPI_T_')}
        by_class['MPI_T_ERR_NOT_INITIALIZED'] = ['the tool interface was not started']
    return [(f'`{error}`', '; '.join(texts) + '.') for error, texts in by_class.items()]


# ---- pages

def make_page(entry, functions, procedures, meanings):
    names = [f.name_in(large) for f in functions for large in f.forms]
    page = Page(functions[0].name, '3', entry.summary, names)
    page.add('SYNOPSIS', [Code(['#include <mpi.h>', ''] + list(c_lines(functions)))])
    page.add('DESCRIPTION', [Paragraph(' '.join(p)) for p in entry.paragraphs if p])
    pairs = parameter_items(entry, functions, meanings)
    page.add('PARAMETERS', [Items(pairs)] if pairs else [])
    page.add('CALLING', calling(entry, functions))
    errors = [Paragraph(text) for text in [handler_text(functions)] if text]
    pairs = error_items(entry, functions, meanings)
    if not all(f.result for f in functions):
        page.add('ERRORS', errors + ([Items(pairs)] if pairs else []))
    page.add('EXAMPLE', [Code(entry.example)] if entry.example else [])
    add_fortran(page, functions, procedures)
    page.add('SEE ALSO', [Paragraph(', '.join([f'MPI_{name}(3)' for name in entry.see] + ['murmur(7)']))])
    return page


def pages():
    known = {f.name[4:]: f for f in model.read_functions()}
    entries, meanings, procedures = read_entries(known), Meanings(), fortran_procedures()
    described = [name for entry in entries for name in entry.names]
    for name in described:
        if name not in known:
            raise Problem(f'docs/manual/functions.txt: there is no function MPI_{name}')
        if described.count(name) > 1:
            raise Problem(f'docs/manual/functions.txt: MPI_{name} is on two pages')
    for name in known:
        if name not in described:
            raise Problem(f'docs/manual/functions.txt: MPI_{name} has no page')
    for name in (name for entry in entries for name in entry.see):
        if name not in known:
            raise Problem(f'docs/manual/functions.txt: see {name}: there is no such function')
    classes = {c.name for c in model.read_constants()}
    for error in [e for entry in entries for e, _ in entry.errors] + \
            [e for reasons in meanings.reasons.values() for e, _ in reasons]:
        if error not in classes:
            raise Problem(f'docs/manual: there is no error class {error}')
    return [make_page(entry, [known[name] for name in entry.names], procedures, meanings) for entry in entries]
