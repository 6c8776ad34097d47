# SPDX-License-Identifier: BSD-3-Clause
"""Writes mpif.h and the Fortran modules. They hold declarations only, no code: any compiler makes its own module files
of them, and all work with the one C library."""

import fortran

HEAD = '''\
! SPDX-License-Identifier: BSD-3-Clause
! {what} Generated from api/; do not edit.
'''

# The names of these types' sizes are those of MPI's kinds.
KIND = 'INTEGER(KIND=MPI_{}_KIND)'
SUBARRAYS = {'f90': '.FALSE.', 'f08': '.TRUE.'}


def wrapped(text, indent, width=120):
    """A statement of free form, broken at commas."""
    lines, line = [], indent
    for i, part in enumerate(text.split(', ')):
        part = part if i == 0 else ', ' + part
        if len(line) + len(part) > width:
            lines.append(line + ', &')
            line = indent + '    ' + part[2:]
        else:
            line += part
    return lines + [line]


def special_lines(interface, name):
    """The constants that are places in memory: one block for all three interfaces, known in C by its binding label."""
    types = {'INTEGER': 'INTEGER', 'CHARACTER': 'CHARACTER(LEN=1)',
             'STATUS': 'TYPE(MPI_Status)' if interface == 'f08' else 'INTEGER'}
    for constant, kind, shape in fortran.SPECIAL:
        if kind == 'STATUS' and interface == 'f90':
            shape = '(8,1)' if shape else '(8)'
        yield f'{types[kind]} :: {constant}{shape}'
        yield f'COMMON /{name}/ {constant}'
    yield f"BIND(C, NAME='mur_fortran_special') :: /{name}/"


# ---- mpif.h: fixed and free form at once, so no line is continued, and each ends before column 73.

def header_line(text):
    line = '      ' + text
    if len(line) > 72:
        raise ValueError(f'too long for fixed form: {line}')
    return line


def header():
    yield HEAD.format(what='MPI-5.0 for Fortran programs of fixed or free form: INCLUDE \'mpif.h\'.') + '!'
    yield '\n'.join(['! If the compiler stops here, it was told to make INTEGER 8 bytes wide (-i8,',
             '! -fdefault-integer-8). MPI libraries of the standard ABI are built for 4.'])
    lines = [header_line('INTEGER MURMUR_NEEDS_INTEGER_OF_4_BYTES'),
             header_line('PARAMETER (MURMUR_NEEDS_INTEGER_OF_4_BYTES=1/(8-KIND(0)))')]
    integers = [('MPI_STATUS_SIZE', 8), ('MPI_SOURCE', 1), ('MPI_TAG', 2), ('MPI_ERROR', 3), ('MPI_ADDRESS_KIND', 8),
                ('MPI_COUNT_KIND', 8), ('MPI_INTEGER_KIND', 4), ('MPI_OFFSET_KIND', 8)]
    for name, value in integers + [(n, v) for n, v, group in fortran.constants() if group != 'offset']:
        lines += [header_line(f'INTEGER {name}'), header_line(f'PARAMETER ({name}={value})')]
    lines += [header_line('INTEGER(KIND=8) MPI_DISPLACEMENT_CURRENT'),
              header_line('PARAMETER (MPI_DISPLACEMENT_CURRENT=-1_8)')]
    for name in ('MPI_SUBARRAYS_SUPPORTED', 'MPI_ASYNC_PROTECTS_NONBLOCKING'):
        lines += [header_line(f'LOGICAL {name}'), header_line(f'PARAMETER ({name}=.FALSE.)')]
    lines += [header_line(line) for line in special_lines('f90', 'MURSPC')]
    for name, _ in fortran.predefined('f90'):
        lines.append(header_line(f'EXTERNAL MPI_{name}'))
    types = {'DOUBLE': 'DOUBLE PRECISION', 'ADDRESS': 'INTEGER(KIND=8)'}
    for procedure in fortran.procedures('f90'):
        if procedure.result:
            for prefix in ('MPI_', 'PMPI_'):
                name = procedure.name(prefix)
                lines += [header_line(f'{types[procedure.result]} {name}'), header_line(f'EXTERNAL {name}')]
    yield '\n'.join(lines).upper().replace("'MUR_FORTRAN_SPECIAL'", "'mur_fortran_special'")
    yield ''


# ---- Declarations of arguments

def type_of(argument, interface):
    """The type of a dummy argument in a module."""
    form, procedure = argument.form, argument.procedure
    if form == 'integer':
        return KIND.format(argument.size) if argument.size else 'INTEGER'
    if form == 'logical':
        return 'LOGICAL'
    if form == 'handle':
        return f'TYPE(MPI_{fortran.HANDLES[argument.kind_name]})' if interface == 'f08' else 'INTEGER'
    if form == 'status':
        return 'TYPE(MPI_Status)' if interface == 'f08' else 'INTEGER'
    if form == 'function':
        return f'PROCEDURE({argument.function_type})' if interface == 'f08' else 'EXTERNAL'
    if form == 'pointer':
        return 'TYPE(C_PTR)' if interface == 'f08' else KIND.format('ADDRESS')
    if form == 'string' and interface == 'f08' and not argument.parameter.is_input:
        length = fortran.STRING_LENGTHS.get(procedure.short)
        if length:
            return f'CHARACTER(LEN=MPI_MAX_{length})'
        if procedure.short == 'Info_get':
            return 'CHARACTER(LEN=valuelen)'
    return 'CHARACTER(LEN=*)'


def ignore_lines(names):
    """Directives by which compilers take any type, kind and rank."""
    for name in names:
        yield f'!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}'
        yield f'!DIR$ IGNORE_TKR {name}'


def declaration(argument, interface):
    procedure = argument.procedure
    is_choice = argument.form == 'choice' or (interface == 'f90' and argument.c_name == 'buffer_addr')
    if is_choice and interface == 'f90' or argument.form == 'any':
        return [*ignore_lines([argument.name]), f'TYPE(*), DIMENSION(*) :: {argument.name}'] \
            if interface == 'f90' else [f'TYPE(*) :: {argument.name}']
    attributes = []
    shape = '' if is_choice else argument.shape(procedure.fortran_name)
    if argument.form == 'status' and interface == 'f90':
        shape = '(MPI_STATUS_SIZE, *)' if shape else '(MPI_STATUS_SIZE)'
    if argument.intent and (interface == 'f08' or argument.form not in ('function', 'status')):
        attributes.append(f'INTENT({argument.intent})')
    if interface == 'f08' and argument.is_asynchronous:
        attributes.append('ASYNCHRONOUS')
    if argument.form == 'function' and interface == 'f90':
        return [f'EXTERNAL :: {argument.name}']
    of = 'TYPE(*), DIMENSION(..)' if is_choice else type_of(argument, interface)
    return [f'{", ".join([of] + attributes)} :: {argument.name}{shape}']


RESULTS = {'DOUBLE': 'DOUBLE PRECISION', 'ADDRESS': KIND.format('ADDRESS')}


def body(procedure, interface, name, suffix=''):
    """The interface body of a procedure."""
    names = [a.name for a in procedure.arguments] + (['ierror'] if procedure.has_ierror else [])
    word = f'{RESULTS[procedure.result]} FUNCTION' if procedure.result else 'SUBROUTINE'
    yield from wrapped(f'{word} {name}({", ".join(names)}){suffix}', '    ')
    yield '      IMPORT'
    # Lengths of arrays come before the arrays.
    for argument in sorted(procedure.arguments, key=lambda a: a.is_array or a.form == 'string'):
        for line in declaration(argument, interface):
            yield line if line.startswith('!') else '      ' + line
    if procedure.has_ierror:
        yield '      INTEGER, ' + ('OPTIONAL, ' if interface == 'f08' else '') + 'INTENT(OUT) :: ierror'
    yield f'    END {"FUNCTION" if procedure.result else "SUBROUTINE"}'


# ---- Modules

def module(name, what, lines, uses):
    yield HEAD.format(what=what) + f'MODULE {name}'
    for used in uses:
        yield f'  USE {used}'
    yield '  IMPLICIT NONE'
    yield from lines
    yield f'END MODULE {name}'
    yield ''


KINDS = ('INTEGER, PARAMETER :: MPI_ADDRESS_KIND = 8, MPI_COUNT_KIND = 8, MPI_OFFSET_KIND = 8',
         'INTEGER, PARAMETER :: MPI_INTEGER_KIND = KIND(0)',
         '! If the compiler stops here, it was told to make INTEGER 8 bytes wide.',
         'INTEGER, PARAMETER, PRIVATE :: MURMUR_NEEDS_INTEGER_OF_4_BYTES = 1 / (8 - KIND(0))',
         'INTEGER, PARAMETER :: MPI_STATUS_SIZE = 8, MPI_SOURCE = 1, MPI_TAG = 2, MPI_ERROR = 3')


def constant_lines(interface):
    for word in ('SUBARRAYS_SUPPORTED', 'ASYNC_PROTECTS_NONBLOCKING'):
        yield f'  LOGICAL, PARAMETER :: MPI_{word} = {SUBARRAYS[interface]}'
    for name, value, group in fortran.constants():
        if group == 'offset':
            yield f'  {KIND.format("OFFSET")}, PARAMETER :: {name} = {value}'
        elif group in fortran.HANDLE_GROUPS and interface == 'f08':
            handle = f'MPI_{fortran.HANDLE_GROUPS[group]}'
            yield f'  TYPE({handle}), PARAMETER :: {name} = {handle}({value})'
        else:
            yield f'  INTEGER, PARAMETER :: {name} = {value}'
    for line in special_lines(interface, 'mur_special'):
        yield '  ' + line


def handle_types():
    """The types of handles and of statuses, and what compares handles."""
    for line in KINDS:
        yield '  ' + line
    for name in fortran.HANDLE_TYPES:
        yield from (f'  TYPE, BIND(C) :: MPI_{name}', '    INTEGER :: MPI_VAL', '  END TYPE')
    yield from ('  TYPE, BIND(C) :: MPI_Status', '    INTEGER :: MPI_SOURCE, MPI_TAG, MPI_ERROR',
                '    INTEGER, PRIVATE :: MPI_internal(5)', '  END TYPE')
    for operator, word in (('==', 'equal'), ('/=', 'differ')):
        yield f'  INTERFACE OPERATOR({operator})'
        for name in fortran.HANDLE_TYPES:
            yield from (f'    PURE LOGICAL FUNCTION mur_{name}_{word}(a, b)', '      IMPORT',
                        f'      TYPE(MPI_{name}), INTENT(IN) :: a, b', '    END FUNCTION')
        yield '  END INTERFACE'


def status_conversions(prefix):
    for name, types in (('Status_f2f08', ('f_status', 'f08_status')), ('Status_f082f', ('f08_status', 'f_status'))):
        yield f'  INTERFACE {prefix}{name}'
        yield f'    SUBROUTINE {prefix}{name}_f08({types[0]}, {types[1]}, ierror)'
        yield '      IMPORT'
        for argument, intent in zip(types, ('IN', 'OUT')):
            of, shape = ('TYPE(MPI_Status)', '') if argument == 'f08_status' else ('INTEGER', '(MPI_STATUS_SIZE)')
            yield f'      {of}, INTENT({intent}) :: {argument}{shape}'
        yield from ('      INTEGER, OPTIONAL, INTENT(OUT) :: ierror', '    END SUBROUTINE', '  END INTERFACE')


def size_of(prefix, interface):
    """MPI_Sizeof and MPI_F_sync_reg, which C does not have."""
    optional = 'OPTIONAL, ' if interface == 'f08' else ''
    yield f'  INTERFACE {prefix}Sizeof'
    yield f"    SUBROUTINE {prefix}Sizeof_f08ts(x, size, ierror) BIND(C, NAME='{prefix}Sizeof_f08ts')"
    yield from ('      IMPORT', '      TYPE(*), DIMENSION(..) :: x', '      INTEGER, INTENT(OUT) :: size',
                f'      INTEGER, {optional}INTENT(OUT) :: ierror', '    END SUBROUTINE', '  END INTERFACE')
    if interface == 'f08':
        yield f'  INTERFACE {prefix}F_sync_reg'
        yield f"    SUBROUTINE {prefix}F_sync_reg_f08ts(buf) BIND(C, NAME='{prefix}F_sync_reg_f08ts')"
        yield from ('      TYPE(*), DIMENSION(..), ASYNCHRONOUS :: buf', '    END SUBROUTINE', '  END INTERFACE')
    else:
        yield from ('  INTERFACE', f'    SUBROUTINE {prefix}F_sync_reg(buf)', *ignore_lines(['buf']),
                    '      TYPE(*), DIMENSION(*) :: buf', '    END SUBROUTINE', '  END INTERFACE')


# Kinds of the arguments of callbacks that no function of C has.
CALLBACK_TYPES = {'int': 'INTEGER', 'keyval': 'INTEGER', 'error': 'INTEGER', 'flag': 'LOGICAL',
                  'aint': KIND.format('ADDRESS'), 'offset': KIND.format('OFFSET'), 'bigcount': KIND.format('COUNT'),
                  'status': 'TYPE(MPI_Status)', 'address_of': 'TYPE(C_PTR), VALUE'}


def callback_body(name, callback):
    yield from wrapped(f'SUBROUTINE {name}({", ".join(p for p, _ in callback.parameters)})', '    ')
    yield '      IMPORT'
    for parameter, kind in callback.parameters:
        of = CALLBACK_TYPES.get(kind) or f'TYPE(MPI_{fortran.HANDLES[kind]})'
        yield f'      {of} :: {parameter}'
    yield '    END SUBROUTINE'


def types_module():
    return module('mpi_f08_types', 'The types of MPI-5.0 for Fortran.', handle_types(), [])


def callbacks_module():
    def lines():
        yield '  ABSTRACT INTERFACE'
        for callback in fortran.callbacks():
            if not callback.is_old:
                yield from callback_body('MPI_' + callback.name, callback)
        yield '  END INTERFACE'
        yield '  PRIVATE :: C_PTR'
    return module('mpi_f08_callbacks', 'The interfaces of MPI-5.0\'s callbacks.', lines(),
                  [', INTRINSIC :: iso_c_binding, ONLY: C_PTR', 'mpi_f08_types'])


def f08_module():
    def lines():
        yield '  PRIVATE :: C_PTR'
        yield from constant_lines('f08')
        # A predefined callback takes part as an actual argument, so its name is no generic one.
        yield '  INTERFACE'
        for name, callback in fortran.predefined('f08'):
            yield from callback_body('MPI_' + name, callback)
        yield '  END INTERFACE'
        for prefix in ('MPI_', 'PMPI_'):
            for procedure in fortran.procedures('f08'):
                specific = procedure.specific(prefix)
                label = f" BIND(C, NAME='{specific}')" if procedure.has_choice else ''
                yield '  INTERFACE' if procedure.is_like_plain else f'  INTERFACE {procedure.name(prefix)}'
                yield from body(procedure, 'f08', specific, label)
                yield '  END INTERFACE'
            yield from status_conversions(prefix)
            yield from size_of(prefix, 'f08')
    return module('mpi_f08', 'MPI-5.0 for Fortran programs: USE mpi_f08.', lines(),
                  [', INTRINSIC :: iso_c_binding, ONLY: C_PTR', 'mpi_f08_types', 'mpi_f08_callbacks'])


def overload(procedure, prefix):
    """A procedure that gives an address as an integer, and another form of it that gives a C_PTR."""
    name = procedure.name(prefix)
    yield f'  INTERFACE {name}'
    yield from body(procedure, 'f90', name)
    for line in body(procedure, 'f90', f'{name}_cptr'):
        yield line.replace(KIND.format('ADDRESS') + ', INTENT(OUT) :: baseptr', 'TYPE(C_PTR), INTENT(OUT) :: baseptr')
    yield '  END INTERFACE'


def f90_module():
    def lines():
        yield '  PRIVATE :: C_PTR'
        yield from constant_lines('f90')
        for name, _ in fortran.predefined('f90'):
            yield f'  EXTERNAL :: MPI_{name}'
        for prefix in ('MPI_', 'PMPI_'):
            for procedure in fortran.procedures('f90'):
                if any(a.c_name == 'baseptr' for a in procedure.arguments):
                    yield from overload(procedure, prefix)
                    continue
                yield '  INTERFACE'
                yield from body(procedure, 'f90', procedure.name(prefix))
                yield '  END INTERFACE'
            yield from status_conversions(prefix)
            yield from size_of(prefix, 'f90')
    return module('mpi', 'MPI-5.0 for Fortran programs: USE mpi.', lines(),
                  [', INTRINSIC :: iso_c_binding, ONLY: C_PTR', 'mpi_f08_types'])


def files():
    """Names and texts, in the order in which a compiler takes them."""
    return {'mpif.h': '\n'.join(header()), 'mpi_f08_types.f90': '\n'.join(types_module()),
            'mpi_f08_callbacks.f90': '\n'.join(callbacks_module()), 'mpi_f08.f90': '\n'.join(f08_module()),
            'mpi.f90': '\n'.join(f90_module())}
