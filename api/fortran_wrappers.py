# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C side of the Fortran procedures: for each, a function that takes addresses as Fortran compilers pass them,
calls C, and gives back handles, truth values and strings as Fortran has them; and for each with choice buffers in
mpi_f08, one that takes their descriptors."""

import fortran
from header import wrapped


class Style:
    """How the procedures of one library differ from those of another. `descriptor`: the type of choice buffers of
    mpi_f08, or None where these are addresses; `has_quick`: some take a short way; `native`: names and strings are
    those of the standard ABI, else gfortran's with the library's own endings."""

    def __init__(self, descriptor, native=False, has_large=True):
        self.descriptor, self.native, self.has_large = descriptor, native, has_large

    def has_form(self, procedure):
        return self.has_large or not procedure.large

    def type_of(self, argument):
        """The descriptor of an argument; None: it comes as an address."""
        if argument.form == 'choice' or (self.native and argument.form == 'string'):
            return self.descriptor
        return None


NATIVE = Style('struct mur_descriptor', native=True)
DOORS = {'mpich': Style('struct mur_gfortran_array'), 'openmpi': Style(None, has_large=False)}

TOP = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fortran procedures of the chapter "{}". Generated from api/; do not edit. */
#include "fortran/fortran.h"
#include "fortran/{}.h"
'''

# Those whose own cost shows in a message's latency: predefined handles and plain buffers take a short way.
QUICK = ('Send', 'Recv', 'Isend', 'Irecv')

INDICES = ('indx', 'array_of_indices')
COMPLETING = ('Wait', 'Test', 'Waitall', 'Testall', 'Waitany', 'Testany', 'Waitsome', 'Testsome', 'Request_get_status',
              'Request_get_status_all', 'Request_get_status_any', 'Request_get_status_some')
STARTING = ('Start', 'Startall')


def handle_word(argument):
    return fortran.HANDLES[argument.kind_name].lower()


def handle_type(argument):
    return 'MPI_' + fortran.HANDLES[argument.kind_name]


def declared(argument):
    const = 'const ' if argument.parameter.is_input and argument.form not in ('choice', 'any', 'pointer') else ''
    if argument.form == 'choice' and argument.intent == 'IN':
        const = 'const '
    return f'{const}{argument.c_type}{"" if argument.c_type.endswith("*") else " "}*{argument.c_name}'


def signature(procedure, type_of=None):
    """The parameters in C; type_of gives the type of the descriptor of an argument that has one."""
    parameters, lengths = [], []
    for a in procedure.arguments:
        descriptor = type_of and type_of(a)
        if descriptor:
            parameters.append(f'const {descriptor} *{a.c_name}')
            continue
        parameters.append(declared(a))
        if a.form == 'string':
            lengths.append(f'size_t {a.c_name}_length')
    if procedure.has_ierror:
        parameters.append('MPI_Fint *ierror')
    return ', '.join(parameters + lengths) or 'void'


def count_of(procedure, argument):
    """How many elements an array of handles or truth values has."""
    length = argument.parameter.lengths[0]
    if length in ('size', 'group'):
        return 'mur_peers(mur_comm_in(*comm))'
    if length:
        return '*' + length
    return f'mur_neighbors(mur_comm_in(*comm), {"true" if argument.c_name.startswith("send") else "false"})'


class Call:
    """The parts of one wrapper: locals, what comes before the call, the C arguments, what comes after it."""

    def __init__(self, procedure):
        self.procedure = procedure
        self.locals, self.before, self.arguments, self.success, self.always = [], [], [], [], []
        for argument in procedure.arguments:
            self.add(argument)

    def add(self, a):
        if a.is_array and a.form in ('handle', 'logical'):
            self.add_array(a)
        elif a.form == 'handle':
            self.add_handle(a)
        elif a.form == 'string':
            self.add_string(a)
        elif a.form == 'logical' and a.parameter.is_input:
            self.arguments.append(f'mur_logical_in(*{a.c_name})')
        elif a.form == 'logical':
            self.locals.append(f'int {a.c_name}_value')
            self.arguments.append(f'&{a.c_name}_value')
            self.success.append(f'*{a.c_name} = mur_logical_out({a.c_name}_value);')
        else:
            self.arguments.append(self.plain(a))
            if a.c_name in INDICES and self.procedure.short in COMPLETING:
                self.success.append(f'mur_indices_out({a.c_name}, {self.index_count(a)});')
            if a.c_name == 'resultlen':
                text = next(b.c_name for b in self.procedure.arguments if b.form == 'string')
                self.success.append(f'*resultlen = mur_text_shown(*resultlen, {text}_length);')

    def index_count(self, a):
        return '*outcount' if a.is_array else '1'

    def plain(self, a):
        """An argument that C takes as it is, or by an expression."""
        if a.form == 'choice':
            return f'mur_buffer({a.c_name})'
        if a.form == 'status':
            return f'(const MPI_Status *){a.c_name}' if a.parameter.is_input else f'mur_status({a.c_name})'
        if a.kind_name == 'weight':
            return f'mur_weights({a.c_name})'
        if a.c_name == 'ranges':
            return '(int(*)[3])ranges'
        if a.is_array or not a.parameter.is_input or a.form in ('any', 'pointer'):
            return a.c_name
        return '*' + a.c_name

    def add_handle(self, a):
        word, name = handle_word(a), a.c_name
        if a.parameter.is_input:
            self.arguments.append(f'mur_{word}_in(*{name})')
            if word == 'request':
                self.before += self.partition_lines()
            if word == 'request' and self.procedure.short in COMPLETING:
                self.before.append(f'mur_pending_mark({name}, 1);')
                self.locals.append(f'MPI_Request {name}_value = mur_request_in(*{name})')
                self.arguments[-1] = f'{name}_value'
                self.always.append(f'mur_pending_settle({name}, &{name}_value, 1);')
            return
        start = f' = mur_{word}_in(*{name})' if a.parameter.direction == '*' else ''
        self.locals.append(f'{handle_type(a)} {name}_value{start}')
        self.arguments.append(f'&{name}_value')
        if word == 'request' and start:
            self.add_pending(name, f'&{name}_value', '1')
        out = f'*{name} = mur_{word}_out({name}_value);'
        (self.always if start else self.success).append(out)

    def partition_lines(self):
        """Sections of partitioned communication are copied partition by partition."""
        short = self.procedure.short
        if short == 'Parrived':
            self.success.append('if (flag_value)')
            self.success.append('    mur_pending_arrived(request, *partition);')
        return {'Pready': ['mur_pending_ready(request, *partition, *partition);'],
                'Pready_range': ['mur_pending_ready(request, *partition_low, *partition_high);'],
                'Pready_list': ['for (int i = 0; i < *length; i++)',
                                '    mur_pending_ready(request, array_of_partitions[i], array_of_partitions[i]);'],
                }.get(short, [])

    def add_pending(self, name, values, count):
        """Sections that were copied for a request go back when it is complete (src/fortran/pending.c)."""
        if self.procedure.short in COMPLETING:
            self.before.append(f'mur_pending_mark({name}, {count});')
            self.always.append(f'mur_pending_settle({name}, {values}, {count});')
        elif self.procedure.short in STARTING:
            self.before.append(f'mur_pending_start({name}, {count});')
        elif self.procedure.short == 'Request_free':
            self.before.append(f'mur_pending_forget({name});')

    def add_array(self, a):
        name, count = a.c_name, count_of(self.procedure, a)
        if a.form == 'logical' and not a.parameter.is_input:
            self.arguments.append(name)
            self.success.append(f'mur_logicals_out({name}, {count});')
            return
        word = 'logical' if a.form == 'logical' else handle_word(a)
        self.locals.append(f'struct mur_list {name}_list')
        value = f'mur_{word}s_in(&{name}_list, {name}, {count})'
        if word == 'request':
            self.locals.append(f'MPI_Request *{name}_values = {value}')
            value = f'{name}_values'
            self.add_pending(name, f'{name}_values', count)
            if a.parameter.direction == '*':
                self.always.append(f'mur_requests_out({name}, {name}_values, {count});')
        elif self.procedure.short.lower().find('alltoallw') >= 0 and name == 'sendtypes':
            value = f'mur_is_in_place(sendbuf) ? mur_{word}s_in(&{name}_list, NULL, 0) : {value}'
        self.arguments.append(value)
        self.always.append(f'mur_list_free(&{name}_list);')

    def add_string(self, a):
        name = a.c_name
        if a.parameter.is_input:
            trim = '_stripped' if self.procedure.function.chapter == 'info' else ''
            self.locals.append(f'struct mur_text {name}_text')
            self.arguments.append(f'mur_text_in{trim}(&{name}_text, {name}, {name}_length)')
            self.always.append(f'mur_text_free(&{name}_text);')
            return
        self.locals.append(f'char {name}_text[MPI_MAX_{fortran.C_STRING_LENGTHS[self.procedure.short]}]')
        self.arguments.append(name + '_text')
        self.success.append(f'mur_text_out({name}, {name}_length, {name}_text);')


def is_quick(procedure):
    return procedure.short in QUICK and not procedure.large


def quick_core(procedure):
    """The function that takes the addresses of buffers, and its short way."""
    general = procedure.short.lower() + '_general'
    handles = [a.c_name for a in procedure.arguments if a.form == 'handle' and a.parameter.is_input]
    buffers = [a.c_name for a in procedure.arguments if a.form == 'choice']
    call = Call(procedure)
    for i, argument in enumerate(procedure.arguments):
        if argument.c_name in handles:
            call.arguments[i] = f'({handle_type(argument)})(intptr_t)*{argument.c_name}'
        elif argument.c_name in buffers:
            call.arguments[i] = argument.c_name
    condition = ' && '.join([f'mur_are_constants({" | ".join("*" + h for h in handles)})'] +
                            [f'!mur_is_special({b})' for b in buffers])
    names_in_call = ', '.join([a.c_name for a in procedure.arguments] + ['ierror'])
    lines = [f'extern __typeof__(PMPI_{procedure.short}) PMPI_{procedure.short} MUR_NO_PLT;', '']
    lines += core(procedure, NATIVE, f'static MUR_APART void {general}')
    lines += ['', wrapped(f'void {procedure.core}({signature(procedure)})'), '{']
    lines += [f'    {local};' for local in call.locals] + ['    int code;', '']
    lines += [f'    if (!MUR_LIKELY({condition})) {{', wrapped(f'        {general}({names_in_call});', ' ' * 12),
              '        return;', '    }',
              wrapped(f'    code = PMPI_{procedure.short}({", ".join(call.arguments)});', ' ' * 8)]
    for line in call.success:
        lines += ['    if (!code)', '        ' + line]
    return lines + ['    mur_give(ierror, code);', '}']


def core(procedure, style, head=None):
    """The function that takes the addresses of buffers."""
    if style.native and is_quick(procedure) and not head:
        return quick_core(procedure)
    call = Call(procedure)
    name = procedure.core
    is_static = procedure.large and procedure.has_choice
    head = head or f'{"static " if is_static else ""}void {name}'
    target = f'PMPI_{procedure.short}{"_c" if procedure.large else ""}({", ".join(call.arguments)})'
    if procedure.result:
        c_type = {'DOUBLE': 'double', 'ADDRESS': 'MPI_Aint'}[procedure.result]
        return [f'{c_type} {name}({signature(procedure)})', '{', f'    return {target};', '}']
    lines = [wrapped(f'{head}({signature(procedure)})'), '{']
    lines += [f'    {local};' for local in call.locals]
    if call.before:
        lines += ['    int code;', ''] + ['    ' + line for line in call.before] + [wrapped(f'    code = {target};', ' ' * 8)]
    else:
        lines += [wrapped(f'    int code = {target};', ' ' * 8), '']
    # Of several outputs, those that others count come last.
    success = sorted(call.success, key=lambda line: 'resultlen' in line)
    if len(success) == 1:
        lines += ['    if (!code)', '        ' + success[0]]
    elif success:
        lines += ['    if (!code) {'] + ['        ' + line for line in success] + ['    }']
    lines += ['    ' + line for line in call.always]
    return lines + ['    mur_give(ierror, code);', '}']


def names(procedure, style):
    """The names under which compilers look for the procedure."""
    lower = procedure.short.lower()
    lines = []
    if not procedure.large:
        lines.append(f'MUR_OTHER_NAMES({procedure.core}, {lower}, {lower.upper()})')
        if any(a.c_name == 'baseptr' for a in procedure.arguments):
            lines.append(f'MUR_ALL_NAMES({procedure.core}, {lower}_cptr, {lower.upper()}_CPTR)')
        if not (procedure.has_choice and style.descriptor) and fortran.ONLY.get(procedure.short) != 'f90':
            lines.append(f'MUR_ALL_NAMES({procedure.core}, {lower}_f08, {lower.upper()}_F08)')
    elif not procedure.has_choice:
        lines.append(f'MUR_LARGE_NAMES({procedure.core}, {lower}, {lower.upper()})')
    return lines


# ---- Descriptors

def section_mode(procedure, argument):
    """How a buffer that is not contiguous is handled (src/fortran/section.h), and the count and the datatype that this
    needs."""
    short, chapter, arguments = procedure.short, procedure.function.chapter, procedure.arguments
    rest = arguments[arguments.index(argument) + 1:]
    following = next((i for i, a in enumerate(rest) if a.form == 'choice'), len(rest))
    own = rest[:following]
    count = next((a for a in own if a.kind_name in ('count', 'bigcount') and not a.is_array), None)
    datatype = next((a for a in own if a.kind_name in ('committed', 'anytype') and not a.is_array), None)
    if chapter == 'partitioned':
        return 'MUR_SECTION_PARTS', count, datatype
    reduces = chapter == 'collective' and any(a.kind_name == 'op' for a in arguments)
    if count and datatype and not reduces and (short, argument.c_name) not in fortran.BLOCKS:
        return 'MUR_SECTION_TYPED', count, datatype
    # A copy can only come back if something tells when the call is done.
    if not procedure.has_request and (chapter == fortran.ONE_SIDED or short.endswith('_begin')):
        raise ValueError(f'{procedure.name()} must not copy {argument.c_name}')
    return 'MUR_SECTION_COPIED', None, None


def passed(procedure, style, replaced=None, ierror='ierror'):
    """The arguments with which a function with descriptors calls the core."""
    replaced = replaced or {}
    arguments, lengths = [], []
    for a in procedure.arguments:
        if a.c_name in replaced:
            arguments.append(replaced[a.c_name])
        elif style.type_of(a):
            arguments.append(f'{a.c_name}->base_addr')
        else:
            arguments.append(a.c_name)
        if a.form == 'string':
            lengths.append(f'{a.c_name}->elem_len' if style.type_of(a) else f'{a.c_name}_length')
    return ', '.join(arguments + [ierror] + lengths)


def with_c_descriptor(style):
    """What type_of is for the function for sections, whose buffers have the descriptors of C."""
    return lambda a: 'struct mur_descriptor' if style.type_of(a) else None


def slow_path(procedure, buffers, style):
    """The function for sections that are not contiguous."""
    size = 'large' if procedure.large else 'small'
    fields = [f'.name = "{procedure.name()}"', f'.request = {"request" if procedure.has_request else "NULL"}']
    fields += ['.is_persistent = true'] if procedure.short.endswith('_init') else []
    fields += ['.partitions = *partitions'] if procedure.function.chapter == 'partitioned' else []
    name = f'{procedure.short.lower()}_{"c_" if procedure.large else ""}sections'
    lines = [wrapped(f'static MUR_APART void {name}({signature(procedure, with_c_descriptor(style))})'), '{',
             f'    struct mur_sections sections = {{{", ".join(fields)}}};']
    replaced = {}
    for i, buffer in enumerate(buffers):
        mode, count, datatype = section_mode(procedure, buffer)
        direction = 'true' if buffer.intent == 'IN' else 'false'
        of = f'*{count.c_name}, *{datatype.c_name}' if count else '0, 0'
        lines.append(wrapped(f'    mur_section_add(&sections, {buffer.c_name}, {mode}, {direction}, {of});', ' ' * 8))
        replaced[buffer.c_name] = f'sections.parts[{i}].address'
        if mode == 'MUR_SECTION_TYPED':
            replaced[count.c_name] = f'&sections.parts[{i}].{size}_count'
            replaced[datatype.c_name] = f'&sections.parts[{i}].datatype'
    whole = ' && '.join(f'mur_section_is_contiguous({b.c_name})' for b in buffers)
    lines[3:3] = ['', f'    if ({whole}) {{', wrapped(f'        {procedure.core}({passed(procedure, style)});', ' ' * 12),
                  '        return;', '    }']
    lines += ['    if (!sections.code)',
              wrapped(f'        {procedure.core}({passed(procedure, style, replaced, "&sections.code")});', ' ' * 12),
              '    mur_sections_end(&sections, ierror);', '}']
    return name, lines


def descriptor_names(procedure, style):
    """The function that takes descriptors, and the line with its other names."""
    if style.native:
        specific = procedure.specific('PMPI_')
        return specific, f'MUR_WEAK({procedure.specific()}, {specific})'
    lower = f'{procedure.short.lower()}_f08ts{"_large" if procedure.large else ""}'
    return f'pmpi_{lower}_', f'MUR_OTHER_NAMES(pmpi_{lower}_, {lower}, {lower.upper()})\n' \
                             f'MUR_MORE_NAMES(pmpi_{lower}_, {lower})'


def with_descriptors(procedure, style):
    buffers = [a for a in procedure.arguments if a.form == 'choice']
    specific, other_names = descriptor_names(procedure, style)
    head = [wrapped(f'void {specific}({signature(procedure, style.type_of)})'), '{']
    call = wrapped(f'    {procedure.core}({passed(procedure, style)});', ' ' * 8)
    tail = ['}', other_names, '']
    if procedure.short in fortran.BASE:
        return head + [call] + tail
    slow, lines = slow_path(procedure, buffers, style)
    plain, given = ('mur_is_plain', {}) if style.native else \
        ('mur_is_plain_array', {b.c_name: f'mur_descriptor_of(&{b.c_name}_room, {b.c_name})' for b in buffers})
    whole = ' && '.join(f'{plain}({b.c_name})' for b in buffers)
    arguments = [given.get(a.c_name, a.c_name) for a in procedure.arguments] + ['ierror']
    arguments += [f'{a.c_name}_length' for a in procedure.arguments if a.form == 'string' and not style.type_of(a)]
    rooms = [f'    struct mur_descriptor_room {b}_room;' for b in given]
    return lines + [''] + head + rooms + ([''] if rooms else []) + \
        [f'    if (MUR_LIKELY({whole}))', '    ' + call, '    else',
         wrapped(f'        {slow}({", ".join(arguments)});', ' ' * 12)] + tail


def chapter_wrappers(chapter, style=NATIVE):
    lines = [TOP.format(chapter, 'section' if style.native or not style.descriptor else 'gfortran')]
    seen = set()
    for interface in ('f08', 'f90'):
        for procedure in fortran.procedures(interface):
            if procedure.function.chapter != chapter or procedure.core in seen or procedure.is_by_hand or \
                    not style.has_form(procedure):
                continue
            seen.add(procedure.core)
            lines += core(procedure, style) + names(procedure, style) + ['']
            if procedure.has_choice and style.descriptor:
                lines += with_descriptors(procedure, style)
    return '\n'.join(lines)


def chapters():
    """The chapters that Fortran has anything of."""
    found = []
    for procedure in fortran.procedures('f90'):
        if procedure.function.chapter not in found and not procedure.is_by_hand:
            found.append(procedure.function.chapter)
    return found
