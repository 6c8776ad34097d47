# SPDX-License-Identifier: BSD-3-Clause
"""Writes the entry points of a chapter, the prototypes of the bodies, and the table of constants.

What a body gets (see also src/mpi/entry.h): handles that are inputs as objects (NULL for a permitted null handle, and
where the argument is not significant); counts and the like that differ between the forms as MPI_Count, arrays of them
as struct mur_counts, outputs as MPI_Count *; everything else as in mpi.h. Functions whose forms differ in other ways
have two bodies, each with the types of its form. Functions that return no error code and those of MPI_T get all
arguments as in mpi.h.
"""

import zlib

import model
from header import wrapped
from model import spaced

OBJECTS = ('comm', 'errhandler', 'file', 'group', 'info', 'op', 'session', 'type', 'win')
CHECKED_BUFFERS = ('collective', 'topology')
SERVING = ('rma', 'io')  # chapters whose calls on windows and files make progress now and then
OWNERS = ('file', 'win', 'session', 'comm')


def is_direct(function):
    """Whether the entry point only calls the body."""
    return function.result is not None or function.name.startswith('MPI_T_')


def is_decoded(p):
    return p.is_handle and p.is_input and not p.is_array


def is_local_output(function, p):
    """An output (or a value that goes in and out) that the body sees as MPI_Count."""
    return p.differs and p.direction and not p.is_array and not function.has_own_bodies


def body_parameter(function, p, large):
    if is_direct(function):
        return p.declare(large)
    if is_decoded(p):
        return f'{p.kind.find[0]} *{p.name}'
    if function.has_own_bodies or not p.differs:
        return p.declare(large)
    if p.is_array:
        return f'struct mur_counts {p.name}'
    return spaced('MPI_Count', '*' + p.name if p.direction else p.name)


def body_name(function, large):
    return function.body + ('_c' if large and function.has_own_bodies else '')


def bodies():
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             '/* The bodies behind the entry points, written by hand. Generated from api/functions.txt; do not edit. */',
             '#ifndef MUR_MPI_BODIES_H', '#define MUR_MPI_BODIES_H', '', '#include <stdbool.h>', '', '#include "mpi.h"',
             '#include "base/counts.h"', '']
    lines += [f'struct mur_{name};' for name in OBJECTS]
    chapter = None
    for function in model.read_functions():
        if function.chapter != chapter:
            chapter = function.chapter
            lines.append('')
        for large in function.forms if function.has_own_bodies else [False]:
            parameters = ', '.join((['int refused'] if function.fails_together else []) +
                                   [body_parameter(function, p, large) for p in function.parameters_in(large)] +
                                   (['bool is_large'] if function.tells_form else []))
            lines.append(wrapped(f'{spaced(function.result or "int", body_name(function, large))}'
                                 f'({parameters or "void"});'))
    return '\n'.join(lines + ['', '#endif', ''])


def number(function):
    """The name of the function's number."""
    return function.name.replace('MPI_', 'MUR_CALL_').upper()


def calls_header():
    """The numbers of the functions, by which the library and the launcher say in which one a rank is."""
    functions = model.read_functions()
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             '/* The functions by number. Generated from api/functions.txt; do not edit. */',
             '#ifndef MUR_BOOT_CALLS_H', '#define MUR_MPI_CALLS_H', '', '#include <stdint.h>', '',
             'enum mur_call_number {', '    MUR_CALL_NONE,']
    lines += [f'    {number(f)},' for f in functions]
    version = zlib.crc32(' '.join(f.name for f in functions).encode())
    return '\n'.join(lines + ['    MUR_CALL_NUMBERS,', '};', '',
                              '/* Other for other numbers. */', f'#define MUR_CALLS_VERSION UINT32_C({version:#x})', '',
                              'extern const char *const mur_call_names[]; /* [MUR_CALL_NUMBERS], "MPI_Send"; the first is NULL */',
                              '', '#endif', ''])


def calls_source():
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             '/* The functions by number. Generated from api/functions.txt; do not edit. */',
             '#include "boot/calls.h"', '', '#include <stddef.h>', '', 'const char *const mur_call_names[] = {', '    NULL,']
    return '\n'.join(lines + [f'    "{f.name}",' for f in model.read_functions()] + ['};', ''])


def call_expression(function, large):
    arguments = ['MPI_SUCCESS'] if function.fails_together else []
    for p in function.parameters_in(large):
        if is_direct(function):
            arguments.append(p.name)
        elif is_decoded(p):
            arguments.append(p.name + '_object')
        elif is_local_output(function, p):
            arguments.append(f'&{p.name}_value')
        elif p.differs and p.is_array and not function.has_own_bodies:
            arguments.append(counts(p))
        else:
            arguments.append(p.name)
    if function.tells_form:
        arguments.append('true' if large else 'false')
    return f'{body_name(function, large)}({", ".join(arguments)})'


def counts(p):
    return f'(struct mur_counts){{{p.name}, sizeof {p.name}[0]}}'


def length_of(p, comm):
    length = p.lengths[0]
    return {'size': f'{comm}_object->size', 'group': f'{comm}_object->group->size'}.get(length, length)


def beside(function, p):
    """What belongs to a buffer: the parameters up to the next one, or all, where the buffers share them."""
    parameters = function.parameters
    rest = parameters[parameters.index(p) + 1:]
    following = [i for i, q in enumerate(rest) if q.kind_name == 'buf']
    own = rest[:following[0]] if following else rest
    return own if any(q.kind_name in ('count', 'bytes', 'aint', 'committed', 'anytype') for q in own) else rest


def buffer_check(function, p):
    """Whether a buffer is memory. Collectives check theirs by themselves, since who has data there depends."""
    if function.chapter in CHECKED_BUFFERS and function.name != 'MPI_Reduce_local':
        return None
    own = beside(function, p)
    count = next((q.name for q in own if q.kind_name in ('count', 'bigcount', 'bytes') or q.name == 'size'), None)
    kind = next((f'{q.name}_object' for q in own if q.kind_name in ('committed', 'anytype')), 'NULL')
    if kind == 'NULL' and not count:
        return None
    return f'mur_buffer_check("{p.name}", {p.name}, {count or 1}, {kind})'


def check_expression(function, p, comm):
    """The check of one argument, or None."""
    quoted = f'"{p.name}"'
    if is_decoded(p):
        suffix = '_or_null' if p.is_optional else ''
        return f'mur_check_{p.kind.check}{suffix}({quoted}, {p.name}, &{p.name}_object)'
    if p.is_array and p.lengths[0]:
        length = length_of(p, comm)
        if p.is_optional:
            return None
        if p.kind_name == 'count' and p.is_input and not function.has_own_bodies:
            return f'mur_check_counts({quoted}, {counts(p)}, {length})'
        return f'mur_check_array({quoted}, {p.name}, {length})'
    if p.is_array or p.is_optional:
        return None
    if p.kind_name == 'buf':
        return buffer_check(function, p)
    if p.kind_name in ('fn', 'strings', 'opaque') and not (p.kind_name == 'opaque' and p.direction):
        return None
    if p.kind_name == 'pointer':
        return f'mur_check_pointer({quoted}, {p.name})' if p.direction == '>' else None
    if p.direction or p.kind_name in ('status', 'string'):
        return f'mur_check_pointer({quoted}, {p.name})'
    if p.kind_name in ('peer', 'source', 'root'):
        return f'mur_check_{p.kind.check}({quoted}, {p.name}, {comm}_object)' if comm else None
    if p.kind.check:
        return f'mur_check_{p.kind.check}({quoted}, {p.name})'
    return None


def condition(p, function, comm):
    """Where the argument is not significant everywhere: the C condition under which it is."""
    terms = []
    root = next((q.name for q in function.parameters if q.kind_name == 'root'), None)
    if p.is_at_root:
        terms.append(f'mur_is_root({comm}_object, {root})')
    elif root and p.kind_name in ('count', 'committed', 'op'):
        # Both ends have arguments of their own where some are the root's (gather), else they share them (bcast).
        has_ends = any(q.is_at_root and q.kind_name == 'committed' for q in function.parameters)
        terms.append(f'mur_is_{"leaf" if has_ends else "involved"}({comm}_object, {root})')
    if p.kind_name == 'buf':
        # Nothing is read or written where there is no partner; some operations do not read what comes from here.
        partners = [q for q in beside(function, p) if q.kind_name in ('peer', 'source')] or function.parameters
        peers = [q.name for q in partners if q.kind_name in ('peer', 'source')]
        if any(q.kind_name == 'message' for q in function.parameters):
            terms.append('*message != MPI_MESSAGE_NO_PROC')
        if peers:
            terms.append('(' + ' || '.join(f'{name} != MPI_PROC_NULL' for name in peers) + ')')
        if p.name == 'origin_addr' and any(q.kind_name == 'op' for q in function.parameters):
            terms.append('op != MPI_NO_OP')
    if p.unless_in_place:
        terms.append(f'{p.unless_in_place} != MPI_IN_PLACE')
    return terms


def checks(function, large):
    """C expressions that are not zero when something is wrong, in the order of evaluation."""
    parameters = function.parameters_in(large)
    comm = next((p.name for p in parameters if p.kind_name == 'comm' and is_decoded(p) and not p.is_optional), None)
    # The others need the communicator, and the significance of the others may depend on the root.
    first = [p for p in parameters if p.name == comm] + [p for p in parameters if p.kind_name == 'root']
    expressions = [] if function.is_any_time else ['(code = mur_check_running())']
    # Whether a buffer must be memory depends on all others.
    last = [p for p in parameters if p.kind_name == 'buf']
    for p in first + [p for p in parameters if p not in first + last] + last:
        check = check_expression(function, p, comm)
        if check:
            terms = condition(p, function, comm) + [f'(code = {check})']
            expressions.append('(' + ' && '.join(terms) + ')' if len(terms) > 1 else terms[0])
    call = call_expression(function, large)
    if function.chapter in SERVING and not function.counts_calls and \
            any(is_decoded(p) and p.kind_name in ('win', 'file') for p in parameters):
        call = f'mur_called({call})'
    # What is legal at any time takes care of threads itself; the rest holds the engine's lock.
    return expressions + [f'(code = {call if function.is_any_time else f"MUR_LOCKED({number(function)}, {call})"})']


def show(p):
    """The MUR_SHOW_ word for an argument, and whether it is behind a pointer."""
    if p.kind_name == 'status':
        return 'STATUS' if not p.is_input else 'POINTER', 0
    if p.kind_name == 'string' and not p.is_input:
        return 'POINTER', 0
    if p.kind_name in ('buf', 'pointer', 'string', 'fn', 'strings', 'opaque'):
        return p.kind.show, 0
    if p.is_array or p.direction == '>':
        return 'POINTER', 0
    if p.direction == '*':
        # A completed request is gone before anyone could print it.
        return (p.kind.show, 1) if p.is_handle else ('POINTER', 0)
    return p.kind.show, 0


def is_address(p):
    return bool(p.is_array or p.direction or p.kind_name in
                ('buf', 'pointer', 'string', 'status', 'fn', 'strings', 'request', 'message', 'peer_comm') or p.is_handle)


def owner(function, parameters):
    if function.raises_on_file_null:
        return 'MUR_OWNER_FILE_NULL'
    for i, p in enumerate(parameters):
        if p.kind_name == 'errhandler' and p.is_input and parameters[-1].kind_name in ('comm', 'session') and \
                parameters[-1].direction == '>':
            return str(i)
        if p.kind_name in OWNERS and not p.is_array and p.direction != '>':
            return str(i)
    return 'MUR_OWNER_SELF'


def failure(function, large, stem):
    """The description of the call and the function for its failures."""
    parameters = function.parameters_in(large)
    forms = [large] if function.has_own_bodies else function.forms
    name = stem + '_parameters' if parameters else 'NULL'
    lines = []
    if parameters:
        lines.append(f'static const struct mur_parameter {name}[] = {{')
        lines += [f'    {{"{p.name}", MUR_SHOW_{show(p)[0]}, {show(p)[1]}}},' for p in parameters]
        lines.append('};')
    lines.append(f'static const struct mur_call {stem}_calls[] = {{')
    lines += [f'    {{"{function.name_in(form)}", {name}, {len(parameters)}, {owner(function, parameters)}}},'
              for form in forms]
    lines.append('};')
    if not parameters:
        return lines
    declared = ', '.join(f'const void *{p.name}' if is_address(p) else f'int64_t {p.name}' for p in parameters)
    values = ', '.join(f'(intptr_t){p.name}' if is_address(p) else p.name for p in parameters)
    lines += [wrapped(f'static MUR_FAULT {stem}_failed(const struct mur_call *call, int code, {declared})'), '{',
              wrapped(f'    const int64_t values[] = {{{values}}};', '        '), '',
              '    return mur_entry_fail(call, code, values);', '}', '']
    return lines


def alias(function, large):
    """The name without P, and one that nothing outside the library can take the place of, for the table of doors.py."""
    name = function.name_in(large)
    return f'extern __typeof__(P{name}) {name} __attribute__((weak, alias("P{name}")));\n' \
           f'extern __typeof__(P{name}) mur_entry_{name[4:]} ' \
           f'__attribute__((alias("P{name}"), visibility("hidden")));'


def direct_entry(function, large):
    return [wrapped(function.prototype(large, 'P')), '{', f'    return {call_expression(function, large)};', '}',
            alias(function, large), '']


def guard(expressions, failed, before=None):
    """Leaves the call when one of the expressions is not zero."""
    opening = '    if (__builtin_expect(' + ' ||\n                         '.join(
        wrapped(e, ' ' * 29, 94) for e in expressions) + ', 0))'
    leave = wrapped(f'        return {failed};', ' ' * 12)
    if not expressions:
        return []
    return [opening + ' {', wrapped('        ' + before, ' ' * 12), leave, '    }'] if before else [opening, leave]


def refusal(function, large):
    """The body's call by a rank whose arguments are wrong (`code` says why): it takes part without any."""
    parameters = function.parameters_in(large)
    those = next((p for p in parameters if p.kind_name == 'comm' and is_decoded(p)), parameters[0])
    values = [p.name + '_object' if p is those else '0' for p in parameters]
    return f'{body_name(function, large)}({", ".join(["code"] + values)})'


def entry(function, large, stem, index):
    parameters = function.parameters_in(large)
    lines = [wrapped(function.prototype(large, 'P')), '{']
    conditional = [p for p in parameters if is_decoded(p) and condition(p, function, '')]
    for p in parameters:
        if is_decoded(p):
            lines.append(f'    {p.kind.find[0]} *{p.name}_object{" = NULL" if p in conditional else ""};')
        elif is_local_output(function, p):
            start = f' = {p.name} ? *{p.name} : 0' if p.direction == '*' else ''
            lines.append(f'    MPI_Count {p.name}_value{start};')
    lines += ['    int code;', '']
    expressions = checks(function, large)
    outputs = [p for p in parameters if is_local_output(function, p)]
    if function.is_strict and not large:
        expressions += [f'(code = mur_check_narrow("{p.name}", {p.name}_value))' for p in outputs
                        if p.type_in(False) == 'int']
    failed = f'{stem}_failed(&{stem}_calls[{index}], code, {", ".join(p.name for p in parameters)})'
    if not parameters:
        failed = f'mur_entry_fail(&{stem}_calls[{index}], code, NULL)'
    if function.fails_together:
        # The first two: the phase, and the handle of those who wait for this rank.
        refuse = f'(void)MUR_LOCKED({number(function)}, {refusal(function, large)});'
        lines += guard(expressions[:2], failed) + guard(expressions[2:-1], failed, refuse)
        expressions = expressions[-1:]
    lines += guard(expressions, failed)
    for p in outputs:
        narrow = p.type_in(large) == 'int'
        lines.append(f'    *{p.name} = {f"mur_narrow({p.name}_value)" if narrow else f"{p.name}_value"};')
    lines += ['    return MPI_SUCCESS;', '}', alias(function, large), '']
    return lines


def chapter_entries(chapter):
    functions = [f for f in model.read_functions() if f.chapter == chapter and f.is_exported]
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* The entry points of the chapter "{chapter}". Generated from api/functions.txt; do not edit. */',
             '#pragma GCC visibility push(default)', '#include "mpi.h"', '#pragma GCC visibility pop', '',
             '#include "mpi/bodies.h"', '#include "boot/calls.h"', '#include "mpi/check.h"', '#include "mpi/entry.h"', '']
    for function in functions:
        stem = function.name[len('MPI_'):].lower()
        if is_direct(function):
            for large in function.forms:
                lines += direct_entry(function, large)
            continue
        for index, large in enumerate(function.forms):
            own = function.has_own_bodies
            form_stem = stem + '_c' if own and large else stem
            if own or index == 0:
                lines += failure(function, large, form_stem)
            lines += entry(function, large, form_stem, 0 if own else index)
    return '\n'.join(lines)


def chapters():
    names = []
    for function in model.read_functions():
        if function.chapter not in names:
            names.append(function.chapter)
    return names


GROUPS = ('comm', 'errhandler', 'file', 'group', 'info', 'message', 'op', 'request', 'session', 'type', 'win',
          'distribution', 'error', 'keyval', 'lock_type', 'order', 'rank', 'split_type', 'tag', 'threads', 'typeclass',
          'undefined', 'whence', 'amode', 'assertion')


def constant_table():
    """The values that messages print by name, and the meanings of error classes."""
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             '/* The constants that messages print by name. Generated from api/constants.txt; do not edit. */',
             '#include "mpi/entry.h"', '', 'const struct mur_constant mur_constants[] = {']
    for c in model.read_constants():
        if c.group in GROUPS and not c.value[0].isalpha():
            meaning = f'"{c.meaning}"' if c.meaning else 'NULL'
            lines.append(f'    {{"{c.name}", {meaning}, {c.value}, MUR_SHOW_{c.group.upper()}}},')
    return '\n'.join(lines + ['};', 'const size_t mur_constant_count = sizeof mur_constants / sizeof mur_constants[0];',
                              ''])
