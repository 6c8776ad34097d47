# SPDX-License-Identifier: BSD-3-Clause
"""What the kinds of arguments in functions.txt mean.

A kind gives the C types of both forms, the check that an entry point makes for an input of that kind (a function of
src/mpi/check.h), and how messages print it (enum mur_show in src/mpi/entry.h): by a group of constants.txt, where the
group of the same name exists, else as a number or an address.
"""


class Kind:
    def __init__(self, small, large=None, check=None, show='NUMBER', find=None):
        self.small = small          # C type of the value in the plain form
        self.large = large or small  # ... and in the _c form
        self.check = check          # mur_check_<check> for inputs; None: the body judges
        self.show = show            # MUR_SHOW_<show>
        self.find = find            # for handles: (C type of the object, magic word of src/base/pool.h)


def handle(name, struct, show, check=None):
    return Kind('MPI_' + name, check=check or struct, show=show,
                find=('struct mur_' + struct, 'MUR_KIND_' + struct.upper()))


KINDS = {
    # Values that differ between the forms.
    'count': Kind('int', 'MPI_Count', check='count'),     # 0 or more
    'steps': Kind('int', 'MPI_Count'),                    # a stride, start or position in elements; any sign
    'displacement': Kind('int', 'MPI_Aint'),              # in elements of a v-collective
    'unit': Kind('int', 'MPI_Aint'),                      # a window's displacement unit
    'address': Kind('MPI_Aint', 'MPI_Count'),             # a displacement, stride, bound or extent in bytes
    'bytes': Kind('MPI_Aint', 'MPI_Count', check='count'),

    # Integers.
    'int': Kind('int'),
    'number': Kind('int', check='count'),                 # of requests
    'length': Kind('int', check='length'),                # of another argument's array
    'aint': Kind('MPI_Aint'),
    'offset': Kind('MPI_Offset'),
    'bigcount': Kind('MPI_Count'),
    'flag': Kind('int'),
    'rank': Kind('int', show='RANK'),                     # the body judges
    'peer': Kind('int', check='peer', show='RANK'),       # of a destination: a rank or MPI_PROC_NULL
    'source': Kind('int', check='source', show='RANK'),   # ... or MPI_ANY_SOURCE
    'root': Kind('int', check='root', show='RANK'),
    'tag': Kind('int', check='tag', show='TAG'),
    'anytag': Kind('int', check='anytag', show='TAG'),
    'color': Kind('int', show='UNDEFINED'),
    'error': Kind('int', show='ERROR'),
    'keyval': Kind('int', show='KEYVAL'),
    'threads': Kind('int', show='THREADS'),
    'amode': Kind('int', show='AMODE'),
    'assertion': Kind('int', show='ASSERTION'),
    'whence': Kind('int', show='WHENCE'),
    'order': Kind('int', show='ORDER'),
    'split_type': Kind('int', show='SPLIT_TYPE'),
    'lock_type': Kind('int', show='LOCK_TYPE'),
    'typeclass': Kind('int', show='TYPECLASS'),
    'distribution': Kind('int', show='DISTRIBUTION'),
    'combiner': Kind('int'),
    'comparison': Kind('int'),
    'topology': Kind('int'),
    'weight': Kind('int'),

    # Handles.
    'comm': handle('Comm', 'comm', 'COMM'),
    'peer_comm': Kind('MPI_Comm', show='COMM'),                          # significant at the leader only
    'group': handle('Group', 'group', 'GROUP'),
    'op': handle('Op', 'op', 'OP'),
    'info': handle('Info', 'info', 'INFO'),
    'errhandler': handle('Errhandler', 'errhandler', 'ERRHANDLER'),
    'file': handle('File', 'file', 'FILE'),
    'win': handle('Win', 'win', 'WIN'),
    'session': handle('Session', 'session', 'SESSION'),
    'committed': handle('Datatype', 'type', 'TYPE', check='committed'),  # moves data
    'type': handle('Datatype', 'type', 'TYPE'),                          # supported here
    'anytype': handle('Datatype', 'type', 'TYPE', check='anytype'),      # only asked about
    'request': Kind('MPI_Request', show='REQUEST'),
    'message': Kind('MPI_Message', show='MESSAGE'),

    # Memory.
    'buf': Kind('void *', show='BUFFER'),
    'pointer': Kind('void *', show='POINTER'),
    'status': Kind('MPI_Status', show='POINTER'),
    'string': Kind('char *', show='STRING'),
}
