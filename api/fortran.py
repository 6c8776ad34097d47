# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran forms of the interface (MPI-5.0 chapter 19): which procedures there are, and of which Fortran type and C
type each of their arguments is. Most of it follows from functions.txt; fortran.txt says the rest."""

import re

import model

# Kinds of integers whose Fortran type is not the default INTEGER: in the plain form, and in the large-count form.
INTEGERS = {
    'count': ('', 'COUNT'),
    'steps': ('', 'COUNT'),
    'displacement': ('', 'ADDRESS'),
    'unit': ('', 'ADDRESS'),
    'address': ('ADDRESS', 'COUNT'),
    'bytes': ('ADDRESS', 'COUNT'),
    'aint': ('ADDRESS', 'ADDRESS'),
    'offset': ('OFFSET', 'OFFSET'),
    'bigcount': ('COUNT', 'COUNT'),
}
C_INTEGERS = {'': 'MPI_Fint', 'COUNT': 'MPI_Count', 'ADDRESS': 'MPI_Aint', 'OFFSET': 'MPI_Offset'}

HANDLES = {
    'comm': 'Comm', 'peer_comm': 'Comm', 'group': 'Group', 'op': 'Op', 'info': 'Info', 'errhandler': 'Errhandler',
    'file': 'File', 'win': 'Win', 'session': 'Session', 'committed': 'Datatype', 'type': 'Datatype',
    'anytype': 'Datatype', 'request': 'Request', 'message': 'Message',
}
HANDLE_TYPES = ('Comm', 'Datatype', 'Errhandler', 'File', 'Group', 'Info', 'Message', 'Op', 'Request', 'Session', 'Win')

# The longest output strings. MPI's constants are one less in Fortran, whose strings have no NUL.
STRING_LENGTHS = {
    'Comm_get_name': 'OBJECT_NAME', 'Type_get_name': 'OBJECT_NAME', 'Win_get_name': 'OBJECT_NAME',
    'Error_string': 'ERROR_STRING', 'Get_library_version': 'LIBRARY_VERSION_STRING',
    'Get_processor_name': 'PROCESSOR_NAME', 'Lookup_name': 'PORT_NAME', 'Open_port': 'PORT_NAME',
}
# ... and of those whose dummy arguments have any length.
C_STRING_LENGTHS = dict(STRING_LENGTHS, File_get_view='DATAREP_STRING', Info_get_nthkey='INFO_KEY')

ATTRIBUTES = ('attribute_val', 'extra_state')
ONE_SIDED = 'rma'


def read_facts():
    """fortran.txt as a dictionary of lists of the words after the first."""
    facts = {}
    for _, line in model.logical_lines('fortran.txt'):
        word, rest = line.split(None, 1)
        facts.setdefault(word, []).append(rest if word == 'callback' else rest.split())
    return facts


FACTS = read_facts()
RENAMED = {(function, old): new for function, old, new in FACTS['rename']}
ABSENT = {name for names in FACTS['absent'] for name in names}
ONLY = {name: words[0] for words in FACTS['only'] for name in words[1:]}
BY_HAND = {name for names in FACTS['hand'] for name in names}
BASE = {name for names in FACTS['base'] for name in names}
BLOCKS = {(words[0], name) for words in FACTS['blocks'] for name in words[1:]}


class Argument:
    """One dummy argument. `form` is how it travels: choice, any, integer, logical, handle, string, strings, status,
    pointer or function."""

    def __init__(self, procedure, parameter):
        self.parameter = parameter
        self.procedure = procedure
        self.c_name = parameter.name
        self.name = RENAMED.get((procedure.short, parameter.name), parameter.name)
        self.is_array = parameter.is_array
        self.kind_name = parameter.kind_name
        self.form = self.find_form()

    def find_form(self):
        kind, name = self.kind_name, self.c_name
        if kind == 'buf' or (kind == 'pointer' and name in ('buffer', 'base')):
            return 'choice'
        if kind == 'pointer':
            if name in ATTRIBUTES:
                return 'integer'
            return 'pointer' if name in ('baseptr', 'buffer_addr') else 'any'
        if kind == 'fn':
            return 'function'
        if kind in ('string', 'strings', 'status'):
            return kind
        if kind in HANDLES:
            return 'handle'
        return 'logical' if kind == 'flag' else 'integer'

    @property
    def size(self):
        """'' for the default INTEGER, else the word in its kind: MPI_..._KIND."""
        if self.c_name in ATTRIBUTES:
            return '' if self.procedure.function.chapter == 'deprecated' else 'ADDRESS'
        return INTEGERS.get(self.kind_name, ('', ''))[self.procedure.large]

    @property
    def c_type(self):
        """The C type of what the argument's address points to."""
        if self.form == 'integer':
            return C_INTEGERS[self.size]
        return {'choice': 'void', 'any': 'void', 'string': 'char', 'strings': 'char', 'pointer': 'void *'}.get(
            self.form, 'MPI_Fint')

    @property
    def intent(self):
        """'IN', 'OUT', 'INOUT', or '' where the standard gives none."""
        p = self.parameter
        if self.form in ('choice', 'status'):
            return 'IN' if p.is_input and not self.is_base else ''
        if self.form == 'function' or (p.is_optional and self.c_name == 'array_of_errcodes'):
            return ''
        if self.kind_name == 'weight':
            return 'IN' if p.is_input else ''
        if self.form == 'any':
            return 'OUT' if p.direction == '>' else 'IN'
        if (self.form == 'integer' and self.kind_name == 'pointer') or self.c_name == 'ranges' or \
                self.procedure.short == 'Cancel':
            return 'OUT' if p.direction == '>' else 'IN'
        return {'': 'IN', '>': 'OUT', '*': 'INOUT'}[p.direction]

    @property
    def is_base(self):
        """A buffer of which only the address counts, not whether data go in or out."""
        return self.form == 'choice' and self.procedure.short in BASE and \
            self.procedure.function.chapter not in ('io', ONE_SIDED) or self.c_name in ('base', 'location')

    @property
    def is_asynchronous(self):
        """Whether MPI may use it after the call has returned."""
        procedure = self.procedure
        if procedure.short.startswith('Comm_idup') and self.c_name == 'newcomm':
            return True
        if self.form == 'choice':
            return procedure.is_asynchronous
        return procedure.has_request and procedure.function.chapter in ('collective', 'topology') and \
            self.is_array and self.parameter.is_input

    @property
    def function_type(self):
        """The abstract interface of a callback argument."""
        c_type = self.parameter.type_in(self.procedure.large)
        return re.fullmatch(r'(MPI_\w+?) ?\*?', c_type).group(1)

    def shape(self, name_of):
        """The dimensions of an array, or ''. name_of gives the Fortran name of another argument."""
        if self.kind_name == 'strings':
            return {'char * []': '(*)', 'char ** []': '(count, *)'}[self.parameter.c_type]
        if not self.is_array:
            return ''
        lengths = self.parameter.lengths
        if self.c_name == 'ranges':
            return '(3, n)'
        if self.form == 'status' or self.c_name in ('array_of_indices', 'array_of_errcodes') or \
                lengths[0] in ('', 'size', 'group'):
            return '(max_large_counts)' if self.c_name == 'array_of_large_counts' else '(*)'
        return f'({name_of(lengths[0])})'


class Procedure:
    """A procedure in one of its forms: plain or with large counts."""

    def __init__(self, function, large):
        self.function = function
        self.large = large
        self.short = function.name[len('MPI_'):]
        self.is_by_hand = self.short in BY_HAND
        parameters = function.parameters_in(large)
        if self.short in ('Init', 'Init_thread', 'Info_create_env'):  # a Fortran program has no argc and argv
            parameters = [p for p in parameters if p.name not in ('argc', 'argv')]
        self.has_request = any(p.kind_name == 'request' and p.direction == '>' for p in parameters)
        self.arguments = [Argument(self, p) for p in parameters]

    @property
    def is_asynchronous(self):
        if self.short in ('Win_free', 'Reduce_local'):
            return False
        return self.has_request or self.function.chapter == ONE_SIDED or self.short.endswith(('_begin', '_end')) or \
            (self.short in BASE and self.function.chapter != 'io')

    @property
    def has_choice(self):
        return any(a.form == 'choice' for a in self.arguments)

    @property
    def result(self):
        """Of functions: 'DOUBLE' or 'ADDRESS'; None for subroutines."""
        return {'double': 'DOUBLE', 'MPI_Aint': 'ADDRESS'}.get(self.function.result)

    @property
    def has_ierror(self):
        return not self.result and self.short != 'Pcontrol'

    def fortran_name(self, c_name):
        return next(a.name for a in self.arguments if a.c_name == c_name)

    def name(self, prefix='MPI_'):
        """The generic name in mpi_f08. Two procedures cannot be told apart by their arguments."""
        separate = self.large and self.short in ('Op_create', 'Register_datarep')
        return prefix + self.short + ('_c' if separate else '')

    @property
    def is_like_plain(self):
        """Whether the form with large counts has the arguments of the plain one, since the kinds of addresses and
        counts are the same: then the generic name is the plain form's alone."""
        plain = Procedure(self.function, False).arguments
        return self.large and \
            [(a.name, bool(a.size)) for a in self.arguments] == [(a.name, bool(a.size)) for a in plain] and \
            not any(a.form == 'function' for a in plain)

    def specific(self, prefix='MPI_'):
        """The specific name in mpi_f08 (MPI-5.0 §19.1.5)."""
        return f'{prefix}{self.short}{"_c" if self.large else ""}_f08{"ts" if self.has_choice else ""}'

    @property
    def core(self):
        """The C function behind it that takes the addresses of buffers."""
        return f'pmpi_{self.short.lower()}_{"c_f08_" if self.large else ""}'


def procedures(interface):
    """All procedures of 'f90' or 'f08'."""
    for function in model.read_functions():
        short = function.name[len('MPI_'):]
        if function.chapter == 'tool' and short != 'Pcontrol' or short in ABSENT or \
                ONLY.get(short, interface) != interface:
            continue
        for large in function.forms:
            # Forms that differ in C only by name are one procedure.
            if not large or (interface == 'f08' and not function.also_large):
                yield Procedure(function, large)


class Callback:
    def __init__(self, text):
        self.name, parameters = re.fullmatch(r'(\w+)\((.*)\)', text).groups()
        self.parameters = [p.split(':') for p in parameters.split(', ')]

    @property
    def is_old(self):
        """Of the deprecated procedures only."""
        return self.name in ('Copy_function', 'Delete_function')


def callbacks():
    return [Callback(text) for text in FACTS['callback']]


def predefined(interface):
    """Pairs of a predefined procedure and its callback."""
    by_name = {c.name: c for c in callbacks()}
    return [(words[0], by_name[words[1]]) for words in FACTS['predefined'] if interface == 'f90' or len(words) == 2]


def constants():
    """Triples of name, value and group; the group says the type: a handle, 'offset' or a plain integer. Only what
    Fortran has: no addresses, no C functions and nothing of the tool interface."""
    rows = model.read_constants()
    values = {c.name: c.value for c in rows}
    for c in rows:
        if c.group in ('buffer', 'ignore', 'weight', 'function', 'fortran_status') or \
                (c.name.startswith('MPI_T_') and c.group not in ('error', 'verbosity')):
            continue
        value = int(values.get(c.value, c.value), 0)
        # The strings of Fortran have no NUL.
        if c.group == 'limit' and c.name != 'MPI_BSEND_OVERHEAD':
            value -= 1
        yield c.name, value, c.group


HANDLE_GROUPS = {'op': 'Op', 'comm': 'Comm', 'group': 'Group', 'win': 'Win', 'file': 'File', 'session': 'Session',
                 'message': 'Message', 'info': 'Info', 'errhandler': 'Errhandler', 'request': 'Request',
                 'type': 'Datatype'}

# Constants that are places in memory, in the order of struct mur_special (src/fortran/fortran.h).
SPECIAL = (('MPI_BOTTOM', 'INTEGER', ''), ('MPI_IN_PLACE', 'INTEGER', ''), ('MPI_BUFFER_AUTOMATIC', 'INTEGER', ''),
           ('MPI_ERRCODES_IGNORE', 'INTEGER', '(1)'), ('MPI_UNWEIGHTED', 'INTEGER', '(1)'),
           ('MPI_WEIGHTS_EMPTY', 'INTEGER', '(1)'), ('MPI_STATUS_IGNORE', 'STATUS', ''),
           ('MPI_STATUSES_IGNORE', 'STATUS', '(1)'), ('MPI_ARGV_NULL', 'CHARACTER', '(1)'),
           ('MPI_ARGVS_NULL', 'CHARACTER', '(1,1)'))
