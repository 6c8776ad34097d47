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

# What MPI has for Fortran beside the standard ABI, made of what the ABI has: programs that use it run on every MPI
# library that has the ABI.
FORTRAN = '''
typedef int MPI_Fint;
typedef MPI_Status MPI_F08_status;

/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE of Fortran, which are there if the program is linked to the library for
 * Fortran. */
#if defined(__GNUC__)
extern MPI_Fint mur_fortran_special[] __attribute__((weak));
#else
extern MPI_Fint mur_fortran_special[];
#endif
#define MPI_F_STATUS_IGNORE (&mur_fortran_special[6])
#define MPI_F_STATUSES_IGNORE (&mur_fortran_special[14])
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)MPI_F_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)MPI_F_STATUSES_IGNORE)
'''

FORTRAN_HANDLES = (('Comm', 'Comm'), ('Errhandler', 'Errhandler'), ('File', 'File'), ('Group', 'Group'),
                   ('Info', 'Info'), ('Message', 'Message'), ('Op', 'Op'), ('Request', 'Request'),
                   ('Session', 'Session'), ('Datatype', 'Type'), ('Win', 'Win'))

STATUS_CONVERSIONS = (('c2f', 'MPI_Status', 'MPI_Fint'), ('f2c', 'MPI_Fint', 'MPI_Status'),
                      ('c2f08', 'MPI_Status', 'MPI_F08_status'), ('f082c', 'MPI_F08_status', 'MPI_Status'),
                      ('f2f08', 'MPI_Fint', 'MPI_F08_status'), ('f082f', 'MPI_F08_status', 'MPI_Fint'))

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


def inline(declaration, statements):
    return [f'static MUR_INLINE {declaration}', '{', *(f'    {statement}' for statement in statements), '}']


def fortran():
    """The conversions of handles and statuses (MPI-5.0 §19.3.4, §19.3.5). Statuses have one layout in all languages."""
    lines = ['#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)',
             '#define MUR_INLINE inline', '#else', '#define MUR_INLINE __inline__', '#endif']
    for name, stem in FORTRAN_HANDLES:
        lines += inline(f'MPI_Fint MPI_{stem}_c2f(MPI_{name} handle)', [f'return MPI_{stem}_toint(handle);'])
        lines += inline(f'MPI_{name} MPI_{stem}_f2c(MPI_Fint handle)', [f'return MPI_{stem}_fromint(handle);'])
    for name, source, target in STATUS_CONVERSIONS:
        lines += inline(f'int MPI_Status_{name}(const {source} *from, {target} *to)',
                        ['int i;', '', 'for (i = 0; i < MPI_F_STATUS_SIZE; i++)',
                         '    ((MPI_Fint *)to)[i] = ((const MPI_Fint *)from)[i];', 'return MPI_SUCCESS;'])
    return lines + ['#undef MUR_INLINE']


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
    lines += [FORTRAN, *fortran()]
    return '\n'.join(lines) + '\n' + BOTTOM
