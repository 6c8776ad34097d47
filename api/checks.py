# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tests of mpi.h: every constant has its value and type, every function its prototype."""

import model
from header import wrapped

TOP = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* {what} Generated from api/; do not edit. */
#include "mpi.h"

#include <stddef.h>
#include <stdint.h>

'''

LAYOUT = '''\
_Static_assert(sizeof(MPI_Status) == 32 && _Alignof(MPI_Status) == _Alignof(int), "MPI_Status is eight ints");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "MPI_SOURCE comes first");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == 4, "MPI_TAG comes second");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8, "MPI_ERROR comes third");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 12, "five reserved words follow");
_Static_assert(sizeof(MPI_Aint) == sizeof(void *), "MPI_Aint holds an address");
_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "MPI_Count and MPI_Offset have 64 bits");
_Static_assert(_Generic((MPI_Aint)0, intptr_t: 1, default: 0), "MPI_Aint is intptr_t");
_Static_assert(_Generic((MPI_Count)0, int64_t: 1, default: 0), "MPI_Count is int64_t");
_Static_assert(_Generic((MPI_Offset)0, int64_t: 1, default: 0), "MPI_Offset is int64_t");

'''


def constants():
    known = model.read_constants()
    values = {c.name: c.value for c in known}
    lines = [TOP.format(what='Every constant has its value and its type.') + LAYOUT]
    rows = []
    for c in known:
        value = values.get(c.value, c.value)
        if c.c_type in ('int', 'MPI_Offset') or c.c_type.startswith('enum '):
            lines.append(f'_Static_assert({c.name} == {value}, "{c.name}");')
            if c.c_type == 'int':
                lines.append(f'_Static_assert(_Generic({c.name}, int: 1, default: 0), "{c.name} is an int");')
        else:
            lines.append(f'_Static_assert(_Generic({c.name}, {c.c_type}: 1, default: 0), "{c.name} is a {c.c_type}");')
            rows.append(f'    {{"{c.name}", (uintptr_t){c.name}, {value}}},')
    lines += ['', '/* The value of an address is no constant expression: these are compared at run time. */',
              'static const struct {', '    const char *name;', '    uintptr_t value, expected;', '} addresses[] = {',
              *rows, '};', '', 'int main(void)', '{',
              '    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)',
              '        if (addresses[i].value != addresses[i].expected)', '            return 1;', '    return 0;', '}', '']
    return '\n'.join(lines)


def prototypes():
    """Each function is assigned to a pointer of the type that the description gives it."""
    lines = [TOP.format(what='Every function has its prototype, under both names.')]
    for function in model.read_functions():
        for large in function.forms:
            for prefix in ('', 'P'):
                name = prefix + function.name_in(large)
                parameters = [p.declare(large) for p in function.parameters_in(large)]
                if function.has_varargs:
                    parameters.append('...')
                result = function.result or 'int'
                lines.append(wrapped(f'extern {result} (*const use_{name})({", ".join(parameters) or "void"});'))
                lines.append(f'{result} (*const use_{name})({", ".join(parameters) or "void"}) = {name};')
    return '\n'.join(lines + [''])
