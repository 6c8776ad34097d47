# SPDX-License-Identifier: BSD-3-Clause
"""Writes mpi.h."""

import re

import model

TOP = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0, the C interface on the standard ABI (chapter 20): a program compiled with this header runs on every MPI
 * library that has this ABI. Generated from api/; do not edit. */
#ifndef MPI_H_INCLUDED
#define MPI_H_INCLUDED

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif
'''

STATUS = '''\
typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;
'''

BOTTOM = '''
#if defined(__cplusplus)
}
#endif

#endif
'''


def define(constant):
    value = constant.value
    if re.match(r'[A-Z]', value):
        text = value
    elif constant.c_type == 'int':
        text = f'({value})' if value.startswith('-') else value
    else:
        text = f'(({constant.c_type}){value})'
    return f'#define {constant.name} {text}'


def wrapped(text, indent='    ', width=116):
    """A declaration over several lines, broken at commas."""
    lines, line = [], ''
    for part in re.split(r'(?<=,) ', text):
        if line and len(line) + 1 + len(part) > width:
            lines.append(line)
            line = indent + part
        else:
            line = f'{line} {part}' if line else part
    return '\n'.join(lines + [line])


def typedefs(types, constants):
    for word, rest in types:
        if word == 'integer':
            name, c_type = rest.split()
            yield f'typedef {c_type} {name};'
        elif word == 'handle':
            yield f'typedef struct MPI_ABI_{rest[4:]} *{rest};'
        elif word == 'enumeration':
            name, group = rest.split()
            yield f'typedef enum {name} {{'
            yield from (f'    {c.name} = {c.value},' for c in constants if c.group == group)
            yield f'}} {name};'


def callbacks(types):
    for word, rest in types:
        if word != 'callback':
            continue
        pointer, result, name, parameters = re.fullmatch(r'(pointer )?(\w+) (\w+)\((.*)\)', rest).groups()
        yield wrapped(f'typedef {result} ' + (f'(*{name})' if pointer else name) + f'({parameters});')


def header():
    constants, types = model.read_constants(), model.read_types()
    enumerations = {rest.split()[1] for word, rest in types if word == 'enumeration'}
    lines = [TOP, *typedefs(types, constants), '', STATUS, *callbacks(types)]
    group = None
    for constant in constants:
        if constant.group in enumerations:
            continue
        if constant.group != group:
            lines.append('')
            group = constant.group
        lines.append(define(constant))
    chapter = None
    functions = model.read_functions()
    for prefix in ('', 'P'):
        for function in functions:
            if function.chapter != chapter:
                lines.append('')
                chapter = function.chapter
            lines += [wrapped(function.prototype(large, prefix) + ';') for large in function.forms]
        chapter = None
    return '\n'.join(lines) + '\n' + BOTTOM
