# SPDX-License-Identifier: BSD-3-Clause
"""Writes the libraries through which programs built for other MPIs come (compat/): for each function one of the same
name that takes that family's handles, constants and statuses, and calls the core. A family is a folder of compat/: its
constants.txt has the values, its family.h the form of handles and statuses."""


import fortran_wrappers
import header
import model
from header import wrapped
from model import spaced

COMPAT = model.HERE.parent / 'compat'
FAMILIES = ('mpich', 'openmpi')

HANDLES = {'op': 'Op', 'comm': 'Comm', 'group': 'Group', 'win': 'Win', 'file': 'File', 'session': 'Session',
           'message': 'Message', 'info': 'Info', 'errhandler': 'Errhandler', 'request': 'Request', 'type': 'Datatype'}
KIND_OF_HANDLE = dict({name: name for name in HANDLES}, committed='type', anytype='type', peer_comm='comm')

# Which group of constants has the values of an argument that is an int.
GROUP_OF_KIND = {'rank': 'rank', 'peer': 'rank', 'source': 'rank', 'root': 'rank', 'tag': 'tag', 'anytag': 'tag',
                 **{name: name for name in ('error', 'keyval', 'threads', 'amode', 'assertion', 'whence', 'order',
                                            'split_type', 'lock_type', 'typeclass', 'combiner', 'comparison',
                                            'topology')}}
# ... and of those whose kind does not say it.
GROUP_OF_NAME = {'verbosity': 'verbosity', 'bind': 'bind', 'scope': 'scope', 'var_class': 'pvar_class',
                 'cb_safety': 'safety', 'ordering': 'source_order'}
BITS = ('amode', 'assertion')

# The functions whose doors are written by hand, in compat/.
BY_HAND = {'Abi_get_version', 'Abort', 'Add_error_class', 'Add_error_code', 'Error_class', 'Error_string',
           'Get_library_version', 'Comm_create_errhandler', 'File_create_errhandler', 'Session_create_errhandler', 'Win_create_errhandler',
           'Op_create', 'Comm_create_keyval', 'Type_create_keyval', 'Win_create_keyval', 'Keyval_create',
           'Grequest_start', 'Register_datarep', 'Comm_get_attr', 'Attr_get', 'Win_get_attr', 'Type_get_contents',
           'Type_create_struct', 'Type_create_darray', 'Comm_spawn', 'Comm_spawn_multiple', 'Comm_split_type', 'Pcontrol',
           'Group_translate_ranks', 'T_cvar_handle_alloc', 'T_pvar_handle_alloc', 'T_event_handle_alloc',
           'T_event_get_info', 'T_event_register_callback', 'T_event_handle_free', 'T_event_set_dropped_handler'}
BY_HAND |= {f'{stem}_{way}' for stem in ('Comm', 'Errhandler', 'File', 'Group', 'Info', 'Message', 'Op', 'Request',
                                         'Session', 'Type', 'Win') for way in ('toint', 'fromint')}

# Output strings that have the length of a constant.
STRING_LIMITS = {'Comm_get_name': 'OBJECT_NAME', 'Type_get_name': 'OBJECT_NAME', 'Win_get_name': 'OBJECT_NAME',
                 'Get_processor_name': 'PROCESSOR_NAME', 'Lookup_name': 'PORT_NAME', 'Open_port': 'PORT_NAME',
                 'File_get_view': 'DATAREP_STRING', 'Info_get_nthkey': 'INFO_KEY'}


class Family:
    def __init__(self, name):
        self.name = name
        self.ours = {c.name: c for c in model.read_constants()}
        self.groups = {}   # name of the group -> list of (name, their value, size or None)
        self.numbers = {}  # of handles in Fortran, by name
        self.older = {}    # an error class that only new versions know -> what the others return in its place
        self.also = {}     # name of a function -> another name that it has here
        group = None
        for line in (COMPAT / name / 'constants.txt').read_text().splitlines():
            words = line.split()
            if not words or line.startswith('#'):
                continue
            if words[0] == 'group':
                group = words[1]
                self.groups.setdefault(group, [])
                continue
            if not group or len(words) not in (2, 3, 4):
                raise model.Problem(f'compat/{name}/constants.txt: cannot read {line!r}')
            if group in ('also', 'older'):
                (self.also if group == 'also' else self.older)[words[0]] = words[1]
                continue
            if len(words) == 4:
                self.numbers[words[0]] = int(words[3])
            self.groups[group].append((words[0], words[1], int(words[2]) if len(words) > 2 else None))

    @property
    def has_symbols(self):
        """Whether handles are addresses of objects."""
        return self.groups['comm'][0][2] is not None

    def our_value(self, name):
        value = self.ours[name].value
        return int(self.ours[value].value if value in self.ours else value, 0)

    def pairs(self, group):
        """(name, their value, our value) of the constants of a group."""
        return [(name, value if size else int(value, 0), self.our_value(name)) for name, value, size in
                self.groups[group] if name in self.ours]

    def limit(self, name):
        return next(int(v) for n, v, _ in self.groups['limit'] if n == f'MPI_MAX_{name}')

    def differs(self, group):
        return any(theirs != ours for _, theirs, ours in self.pairs(group))


# ---- facts.h: what follows from the values alone

def switch(head, rows, strays=()):
    lines = [f'static inline {head}(int value)', '{', '    switch (value) {']
    for text, result, name in rows:
        lines += [f'    case {text}: /* {name} */', f'        return {result};']
    if strays:
        lines += [f'    case {value}:' for value in strays] + ['        return MUR_STRAY(value);']
    return lines + ['    default:', '        return value;', '    }', '}', '']


def integer_conversions(family, group):
    pairs = family.pairs(group)
    if not family.differs(group):
        return [f'#define {group}_in(value)  (value)', f'#define {group}_out(value) (value)', '']
    if group in BITS:
        known = 0
        for _, theirs, _ in pairs:
            known |= theirs
        lines = []
        for way, source, target in (('in', 1, 2), ('out', 2, 1)):
            terms = [f'(value & {p[source]} ? {p[target]} : 0)' for p in pairs]
            # Bits that mean nothing become one that means nothing here either.
            if way == 'in':
                terms.append(f'(value & ~{known} ? 1 << 30 : 0)')
            lines += [f'static inline int {group}_{way}(int value)', '{',
                      '    return ' + ' |\n           '.join(terms) + ';', '}', '']
        return lines
    theirs, ours = {p[1] for p in pairs}, {p[2] for p in pairs}
    strays = sorted(ours - theirs)
    is_rank = group in ('rank', 'tag') # mostly not negative
    lines = switch(f'int {group}_in', [(t, o, n) for n, t, o in pairs], strays)
    theirs_of = {name: value for name, value, _ in pairs}
    lines += switch(f'int {group}_out', [(o, theirs_of[family.older.get(n, n)], n) for n, t, o in pairs])
    if is_rank:
        lines = [line.replace('    switch (value) {', '    if (__builtin_expect(value >= 0, 1))\n        return value;\n'
                              '    switch (value) {') for line in lines]
    return lines


def facts_header(family):
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* Constants between those of compat/{family.name}/constants.txt and ours. Generated; do not edit. */',
             '#ifndef MUR_COMPAT_FACTS_H', '#define MUR_COMPAT_FACTS_H', '', '#include <stdint.h>', '', '#include "mpi.h"',
             '', '/* A value that is no constant of theirs, but would be one of ours. */',
             '#define MUR_STRAY(value) ((value) ^ 1 << 28)', '', 'enum {']
    lines += [f'    THEIR_{name[4:]} = {value},' for name, value, _ in family.groups['limit']]
    lines += ['};', '']
    for group in sorted(set(GROUP_OF_KIND.values()) | set(GROUP_OF_NAME.values()) | {'distribution', 'flavor',
                                                                                       'win_model'}):
        if group != 'error':
            lines += integer_conversions(family, group)
    lines += [line.replace('error_in', 'class_in').replace('error_out', 'class_out')
              for line in integer_conversions(family, 'error')]
    lines += [f'#define THEIR_{n[4:]} ({v})' for n, v, _ in family.groups['keyval'] if n == 'MPI_KEYVAL_INVALID']
    lines += [f'#define THEIR_{n[4:]} ({v})' for n, v, _ in family.groups['error'] if n == 'MPI_ERR_LASTCODE']
    current, default = (next((t, o) for n, t, o in family.pairs(g) if n == name) for g, name in
                        (('offset', 'MPI_DISPLACEMENT_CURRENT'), ('distribution', 'MPI_DISTRIBUTE_DFLT_DARG')))
    lines += ['', 'static inline MPI_Offset view_offset_in(MPI_Offset value)', '{',
              f'    return value == {current[0]} ? MPI_DISPLACEMENT_CURRENT : value;', '}', '',
              'static inline int darg_in(int value)', '{',
              f'    return value == {default[0]} ? MPI_DISTRIBUTE_DFLT_DARG : value;', '}', '',
              'static inline int darg_out(int value)', '{',
              f'    return value == MPI_DISTRIBUTE_DFLT_DARG ? {default[0]} : value;', '}', '',
              'static inline void *buffer_in(const void *buffer)', '{']
    for name, theirs, ours in family.pairs('buffer'):
        if theirs != ours:
            lines += [f'    if (__builtin_expect((intptr_t)buffer == {theirs}, 0))', f'        return {name};']
    lines += ['    return (void *)buffer;', '}', '', 'static inline void *buffer_out(void *buffer)', '{']
    for name, theirs, ours in family.pairs('buffer'):
        if theirs != ours:
            lines += [f'    if (buffer == {name})', f'        return (void *){theirs};']
    lines += ['    return buffer;', '}', '']
    lines += symbols_header(family) if family.has_symbols else numbers_header(family)
    return '\n'.join(lines + ['#endif', ''])


# ---- Handles that are numbers: those of datatypes by tables, the others, which are few, by comparison.

def numbers_header(family):
    lines = ['enum { THEIR_TYPES = 512 };', '', '/* Where a datatype\'s constant is in type_constants. */',
             'static inline unsigned type_index(uint32_t handle)', '{',
             '    return (handle >> 23 & 0x100) | (handle & 0xff);', '}', '', 'extern const struct type_constant {',
             '    uint32_t theirs;', '    uint16_t ours;', '} type_constants[THEIR_TYPES];',
             'extern const uint32_t type_numbers[0x300]; /* by our constants */', '',
             'static inline MPI_Datatype type_constant_in(uint32_t handle)', '{',
             '    const struct type_constant *row = &type_constants[type_index(handle)];', '',
             '    return row->theirs == handle ? (MPI_Datatype)(uintptr_t)row->ours : (MPI_Datatype)MUR_NO_HANDLE(handle);',
             '}', '', 'static inline uint32_t type_constant_out(MPI_Datatype handle)', '{',
             '    return (uintptr_t)handle < 0x300 ? type_numbers[(uintptr_t)handle] : 0;', '}', '']
    for group, name in HANDLES.items():
        if group in ('type', 'file'):
            continue
        pairs = family.pairs(group)
        lines += [f'static inline MPI_{name} {group}_constant_in(uint32_t handle)', '{', '    switch (handle) {']
        for n, theirs, _ in pairs:
            lines += [f'    case {theirs:#010x}:', f'        return {n};']
        lines += ['    default:', f'        return (MPI_{name})MUR_NO_HANDLE(handle);', '    }', '}', '',
                  f'static inline uint32_t {group}_constant_out(MPI_{name} handle)', '{',
                  '    switch ((uintptr_t)handle) {']
        for n, theirs, ours in pairs:
            lines += [f'    case {ours:#x}: /* {n} */', f'        return {theirs:#010x};']
        lines += ['    default:', '        return 0;', '    }', '}', '']
    return lines + [f'#define THEIR_{n[4:]} ((int){v})' for n, v, _ in family.groups['removed']] + ['']


def numbers_source(family):
    pairs = family.pairs('type')
    lines = ['const struct type_constant type_constants[THEIR_TYPES] = {']
    for name, theirs, ours in pairs:
        index = (theirs >> 23 & 0x100) | (theirs & 0xff)
        lines.append(f'    [{index:#x}] = {{{theirs:#010x}, {ours:#x}}}, /* {name} */')
    lines += ['};', '', 'const uint32_t type_numbers[0x300] = {']
    lines += [f'    [{ours:#x}] = {theirs:#010x}, /* {name} */' for name, theirs, ours in pairs]
    return lines + ['};', '']


# ---- Handles that are addresses of objects

def symbols(family):
    """(symbol, size, our constant or 0, number in Fortran or -1), each symbol once."""
    seen = {}
    for group in list(HANDLES) + ['removed', 'only_here']:
        for name, symbol, size in family.groups[group]:
            seen.setdefault(symbol, (symbol, size, self_value(family, name), family.numbers.get(name, -1)))
    return list(seen.values())


def self_value(family, name):
    return family.our_value(name) if name in family.ours else 0


def symbols_header(family):
    lines = [f'extern char {symbol}[{size}];' for symbol, size, _, _ in symbols(family)]
    lines += ['', 'extern const struct mur_symbol {', '    void *address;', '    uintptr_t ours;', '    int number; /* in Fortran; -1: none */',
              f'}} mur_symbols[{len(symbols(family))}];', 'extern void *const mur_symbol_out[0x300]; /* by our constants */', '']
    for group in HANDLES:
        lines += [f'static inline void *{group}_of_number(int number)', '{', '    switch (number) {']
        for name, symbol, _ in family.groups[group]:
            if name in family.numbers:
                lines += [f'    case {family.numbers[name]}:', f'        return {symbol};']
        lines += ['    default:', '        return NULL;', '    }', '}', '']
    return lines + [f'#define THEIR_{n[4:]} ((void *){v})' for n, v, _ in family.groups['removed']] + ['']


def symbols_source(family):
    rows = symbols(family)
    lines = ['#pragma GCC visibility push(default)']
    lines += [f'char {symbol}[{size}] __attribute__((aligned(64)));' for symbol, size, _, _ in rows]
    lines += ['#pragma GCC visibility pop', '', f'const struct mur_symbol mur_symbols[{len(rows)}] = {{']
    lines += [f'    {{{symbol}, {ours:#x}, {number}}},' for symbol, _, ours, number in rows]
    lines += ['};', '', 'void *const mur_symbol_out[0x300] = {']
    lines += [f'    [{ours:#x}] = {symbol},' for symbol, _, ours, _ in rows if ours]
    return lines + ['};', '']


def facts_source(family):
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* The predefined handles of compat/{family.name}/constants.txt. Generated; do not edit. */',
             '#include "door.h"', '']
    return '\n'.join(lines + (symbols_source(family) if family.has_symbols else numbers_source(family)))


# ---- The functions

class Door:
    """The parts of one function: its parameters, locals, arguments of the core's, and what comes after the call."""

    def __init__(self, family, function, large):
        self.family, self.function, self.large = family, function, large
        self.short = function.name[len('MPI_'):]
        self.parameters, self.locals, self.arguments, self.success, self.always = [], [], [], [], []
        for p in function.parameters_in(large):
            self.add(p)

    def group_of(self, p):
        if p.kind_name in ('int', 'opaque') and p.name in GROUP_OF_NAME and self.function.name.startswith('MPI_T_'):
            return GROUP_OF_NAME[p.name]
        return GROUP_OF_KIND.get(p.kind_name)

    def add(self, p):
        handle = KIND_OF_HANDLE.get(p.kind_name)
        if handle:
            self.add_handle(p, handle)
        elif p.kind_name == 'status':
            self.add_status(p)
        elif p.kind_name == 'string' and not p.is_input and self.short in STRING_LIMITS:
            self.add_string(p)
        else:
            self.parameters.append(p.declare(self.large))
            self.add_plain(p)

    def add_plain(self, p):
        name, group = p.name, self.group_of(p)
        if p.kind_name == 'buf' and self.function.chapter in ('collective', 'topology') or \
                p.kind_name in ('buf', 'pointer') and name in ('buffer', 'base'):
            self.arguments.append(f'buffer_in({name})')
        elif p.kind_name == 'pointer' and name == 'buffer_addr':
            self.arguments.append(name)
            self.success.append(f'*(void **){name} = buffer_out(*(void **){name});')
        elif p.kind_name == 'weight':
            self.arguments.append(f'weights_in({name})')
        elif p.kind_name == 'opaque' and 'pvar_handle' in p.c_type and p.is_input:
            self.arguments.append(f'pvar_handle_in({name})')
        elif p.kind_name == 'offset' and self.short == 'File_set_view':
            self.arguments.append(f'view_offset_in({name})')
        elif not group or p.is_array or not (self.family.differs(group) or group == 'error'):
            self.arguments.append(name)
        elif p.is_input:
            self.arguments.append(f'{group}_in({name})')
        elif p.direction == '*':
            self.locals.append(f'int {name}_value = {name} ? {group}_in(*{name}) : 0')
            self.arguments.append(f'{name} ? &{name}_value : NULL')
            self.success.append(f'*{name} = {group}_out({name}_value);')
        else:
            self.arguments.append(name)
            self.success.append((f'if ({name})\n        ' if p.is_optional else '') + f'*{name} = {group}_out(*{name});')

    def add_handle(self, p, handle):
        name, c_type = p.name, f'MPI_{HANDLES[handle]}'
        theirs = f'their_{handle}'
        if p.is_array:
            self.add_handles(p, handle)
        elif p.is_input:
            self.parameters.append(f'{theirs} {name}')
            self.arguments.append(f'{handle}_in({name})')
        else:
            self.parameters.append(f'{theirs} *{name}')
            before = f' = {name} ? {handle}_in(*{name}) : NULL' if p.direction == '*' else ''
            self.locals.append(f'{c_type} {name}_value{before}')
            self.arguments.append(f'{name} ? &{name}_value : NULL')
            if p.direction == '*':
                self.locals.append(f'const {c_type} {name}_before = {name}_value')
                self.always.append(f'if ({name}_value != {name}_before)\n        *{name} = {handle}_out({name}_value);')
            else:
                self.success.append((f'if ({name})\n        ' if p.is_optional else '') +
                                    f'*{name} = {handle}_out({name}_value);')

    def count_of(self, p):
        length = p.lengths[0]
        if length in ('size', 'group'):
            return 'mur_door_peers(comm_in(comm))'
        return length or f'mur_door_neighbors(comm_in(comm), {"true" if p.name.startswith("send") else "false"})'

    def add_handles(self, p, handle):
        name, count = p.name, self.count_of(p)
        constant = 'const ' if p.is_input else ''
        self.parameters.append(f'{constant}their_{handle} {name}[]')
        source = name
        if p.unless_in_place:
            source = f'buffer_in({p.unless_in_place}) == MPI_IN_PLACE ? NULL : {name}'
        self.locals += [f'struct mur_door_list {name}_list',
                        f'MPI_{HANDLES[handle]} *{name}_values = mur_{handle}s_in(&{name}_list, {source}, {count})']
        self.arguments.append(f'{name}_values')
        if not p.is_input:
            self.always.append(f'mur_requests_out({name}, {name}_values, {count});')
        self.always.append(f'mur_list_free(&{name}_list);')

    def add_status(self, p):
        name = p.name
        constant = 'const ' if p.is_input and not p.is_array else ''
        self.parameters.append(f'{constant}struct their_status *{name}')
        if p.is_array:
            length = p.lengths[0]
            self.locals += [f'struct mur_statuses {name}_list',
                            f'MPI_Status *{name}_values = mur_statuses_room(&{name}_list, {name}, {length})']
            self.arguments.append(f'{name}_values')
            self.always.append(f'mur_statuses_out({name}, {name}_values, {length});')
            self.always.append(f'mur_statuses_free(&{name}_list);')
        elif p.direction == '>':
            self.locals.append(f'MPI_Status {name}_value')
            self.arguments.append(f'status_room({name}, &{name}_value)')
            self.always.append(f'status_out({name}, &{name}_value);')
        else:
            self.locals.append(f'MPI_Status {name}_value')
            self.arguments.append(f'status_in({name}, &{name}_value)')
            if p.direction == '*':
                self.success.append(f'status_out_all({name}, &{name}_value);')

    def add_string(self, p):
        name, limit = p.name, STRING_LIMITS[self.short]
        self.parameters.append(f'char *{name}')
        ours = self.family.our_value(f'MPI_MAX_{limit}')
        if self.family.limit(limit) >= ours:
            self.arguments.append(name)
            return
        self.locals.append(f'char {name}_text[MPI_MAX_{limit}]')
        self.arguments.append(f'{name} ? {name}_text : NULL')
        length = 'resultlen' if any(q.name == 'resultlen' for q in self.function.parameters) else 'NULL'
        self.success.append(f'mur_text_out({name}, {name}_text, THEIR_MAX_{limit}, {length});')

    def other_names(self, stem, name):
        other = self.family.also.get(name)
        return [f'extern __typeof__({stem}) also_{stem} __asm__("{other}") __attribute__((alias("P{name}")));'] if other else []

    def lines(self):
        function, name = self.function, self.function.name_in(self.large)
        stem = f'door_{name[4:]}'
        parameters = ', '.join(self.parameters) or 'void'
        result = function.result or 'int'
        call = f'murmur_door.{name[4:]}({", ".join(self.arguments)})'
        head = [wrapped(f'{spaced(result, stem)}({parameters}) __asm__("P{name}");'),
                f'MUR_WEAK_NAME({stem}, "{name}", "P{name}")', *self.other_names(stem, name), wrapped(f'{spaced(result, stem)}({parameters})'), '{']
        if function.result:
            return head + [f'    return {call};', '}', '']
        if not (self.locals or self.success or self.always):
            return head + [wrapped(f'    return error_out({call});', ' ' * 8), '}', '']
        lines = head + [wrapped(f'    {local};', ' ' * 8) for local in self.locals]
        lines += [wrapped(f'    int code = {call};', ' ' * 8), '']
        # Of several outputs, those that others count come last.
        if self.success:
            lines += ['    if (__builtin_expect(!code, 1)) {'] + \
                     ['        ' + line.replace('\n', '\n    ') for line in self.success] + ['    }']
        return lines + ['    ' + line for line in self.always] + ['    return error_out(code);', '}', '']


def chapter_doors(family, chapter):
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* The door of {family.name} to the chapter "{chapter}". Generated from api/ and compat/; do not edit. */',
             '#include "door.h"', '', '#pragma GCC visibility push(default)', '']
    for function in model.read_functions():
        if function.chapter == chapter and function.is_exported and function.name[4:] not in BY_HAND:
            for large in function.forms:
                lines += Door(family, function, large).lines()
    return '\n'.join(lines)


def chapters():
    found = []
    for function in model.read_functions():
        if function.chapter not in found and function.name[4:] not in BY_HAND and function.is_exported:
            found.append(function.chapter)
    return found


# ---- The library for Fortran: the wrappers of fortran_wrappers.py over an mpi.h with the family's types and values

STATUS_INTEGERS = {'mpich': 5, 'openmpi': 6} # of a status, in C and in Fortran


def fortran_mpi_header(family):
    size = STATUS_INTEGERS[family.name]
    handle = 'void *' if family.has_symbols else 'int '
    types = model.read_types()
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             f'/* What libraries for Fortran need of an mpi.h of {family.name}. Generated; do not edit. */',
             '#ifndef MUR_COMPAT_MPI_H', '#define MUR_COMPAT_MPI_H', '', '#include <stdint.h>', '']
    lines += [f'typedef {rest.split()[1]} {rest.split()[0]};' for word, rest in types if word == 'integer']
    lines += ['typedef int MPI_Fint;'] + [f'typedef {"void *" if name == "File" else handle}MPI_{name};' for name in HANDLES.values()]
    lines += [f'enum {{ MPI_F_STATUS_SIZE = {size} }};',
              'typedef struct MPI_Status {', '    MPI_Fint words[MPI_F_STATUS_SIZE];', '} MPI_Status;', '']
    lines += header.callbacks([row for row in types if 'MPI_T_' not in row[1]])
    lines += [f'extern char {symbol}[{size}];' for symbol, size, _, _ in symbols(family)] if family.has_symbols else []
    for group, rows in family.groups.items():
        for name, value, _ in rows:
            if group in HANDLES:
                lines.append(f'#define {name} ((MPI_{HANDLES[group]}){value})')
            elif group in ('buffer', 'offset'):
                lines.append(f'#define {name} (({"void *" if group == "buffer" else "MPI_Offset"}){value})')
            elif group not in ('removed', 'only_here', 'tool_handle'):
                lines.append(f'#define {name} ({value})')
    for function in model.read_functions():
        if function.is_exported and (function.chapter != 'tool' or function.has_varargs):
            lines += [wrapped(function.prototype(large, 'P') + ';') for large in function.forms]
    return '\n'.join(lines + ['', '#endif', ''])


def fortran_files(family):
    style = fortran_wrappers.DOORS[family.name]
    texts = {'fortran_include/mpi.h': fortran_mpi_header(family)}
    for chapter in fortran_wrappers.chapters():
        texts[f'fortran_{chapter}.c'] = fortran_wrappers.chapter_wrappers(chapter, style)
    return texts


def files(family_name):
    """Names and texts of what a family's libraries are made of."""
    family = Family(family_name)
    texts = {'facts.h': facts_header(family), 'facts.c': facts_source(family), **fortran_files(family)}
    for chapter in chapters():
        texts[f'door_{chapter}.c'] = chapter_doors(family, chapter)
    return texts


# ---- The table of the core

# What it has beside MPI's functions: see src/mpi/stateful.h.
PRIVATE = ('op_create', 'errhandler_create', 'keyval_own', 'first_object')


def table_header():
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             '/* All functions of the core, for the libraries of other ABIs. Generated from api/functions.txt; do not edit. */',
             '#ifndef MUR_MPI_DOOR_H', '#define MUR_MPI_DOOR_H', '', '#include <stddef.h>', '',
             '#include "mpi/stateful.h"', '', 'struct murmur_door {', '    const char *version; /* of the library */',
             '    size_t bytes;        /* of this table */']
    lines += [f'    __typeof__(mur_door_{name}) *{name};' for name in PRIVATE]
    for function in model.read_functions():
        if function.is_exported:
            lines += [f'    __typeof__(MPI_{function.name_in(large)[4:]}) *{function.name_in(large)[4:]};'
                      for large in function.forms]
    return '\n'.join(lines + ['};', '', '#pragma GCC visibility push(default)',
                              'extern const struct murmur_door murmur_door;', '#pragma GCC visibility pop', '', '#endif', ''])


def table_source():
    names = [function.name_in(large)[4:] for function in model.read_functions() if function.is_exported
             for large in function.forms]
    lines = ['/* SPDX-License-Identifier: BSD-3-Clause */',
             '/* The table of the core\'s functions. Generated from api/functions.txt; do not edit. */',
             '#include "mpi/door.h"', '']
    lines += [f'extern __typeof__(MPI_{name}) mur_entry_{name} __attribute__((visibility("hidden")));' for name in names]
    lines += ['', 'const struct murmur_door murmur_door = {', '    .version = MUR_VERSION,',
              '    .bytes = sizeof(struct murmur_door),']
    lines += [f'    .{name} = mur_door_{name},' for name in PRIVATE]
    return '\n'.join(lines + [f'    .{name} = mur_entry_{name},' for name in names] + ['};', ''])
