#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls every function of MPI through a door, with the arguments as that family's own header has them, and compares what
comes out with the same program on the standard ABI:

    tests/compat/calls.py SOURCE_DIR BUILD_DIR FAMILY COMPILER [FUNCTION]

The program is generated. A function is first called with good arguments on one process; then each argument that is a
handle or a constant takes each value of its kind that both headers know, the others staying as they are. Each call prints
its result and its outputs by name. FUNCTION shows the lines of one function. Skipped (77) without the compiler."""
import pathlib
import re
import subprocess
import sys
import tempfile

source, build, family_name, compiler = sys.argv[1:5]
build = pathlib.Path(build).resolve()
sys.path.insert(0, str(pathlib.Path(source) / 'api'))
sys.dont_write_bytecode = True
import doors  # noqa: E402
import model  # noqa: E402

# They end MPI or the process, wait for others, start programs, or have no result that is the same twice.
LEFT_OUT = {'Init', 'Init_thread', 'Finalize', 'Abort', 'Pcontrol', 'T_finalize', 'Comm_spawn', 'Comm_spawn_multiple',
            'Comm_accept', 'Comm_join', 'Win_start', 'Win_wait', 'Probe', 'Mprobe', 'Get_library_version', 'Wtime',
            'Session_init', 'Session_finalize', 'Get_version', 'Abi_get_version', 'T_event_read', 'T_event_copy',
            'T_event_get_source', 'Publish_name', 'Lookup_name', 'Unpublish_name',
            'T_event_get_timestamp', 'T_source_get_timestamp', 'Free_mem', 'Comm_disconnect',
            # New classes and codes have other numbers, and so have several modes at once.
            'Add_error_class', 'Add_error_code', 'File_get_amode'}
# Null where the compiler had no such type; no class.
MISSING = {'MPI_INTEGER16', 'MPI_ERR_LASTCODE'}

# Good arguments by name, where the kind does not say enough.
BY_NAME = {'size': '8', 'ndims': '1', 'maxdims': '1', 'nnodes': '1', 'key': '0', 'direction': '0', 'reorder': '0',
           'local_leader': '0', 'remote_leader': '0', 'max_integers': '0', 'max_addresses': '0', 'max_datatypes': '0',
           'max_large_counts': '0', 'p': '6', 'r': '30', 'partition': '0', 'partition_low': '0', 'partition_high': '0',
           'valuelen': '32', 'insize': '64', 'outsize': '64', 'fd': '-1', 'n': '1', 'maxneighbors': '1', 'flag': '1',
           'maxindex': '1', 'maxedges': '1', 'indegree': '0', 'outdegree': '0', 'maxindegree': '0', 'maxoutdegree': '0',
           'logical_size': '4', 'indx': '0'}
STRINGS = {'datarep': '"external32"', 'filename': 'file_name', 'port_name': '"no-such-port"', 'key': '"a-key"',
           'value': '"a-value"', 'pset_name': '"mpi://SELF"', 'stringtag': '"tag"'}
FUNCTIONS = {'MPI_User_function *': 'reduce', 'MPI_User_function_c *': 'reduce_c', 'MPI_Copy_function *': 'MPI_DUP_FN',
             'MPI_Delete_function *': 'MPI_NULL_DELETE_FN',
             'MPI_Comm_errhandler_function *': 'comm_failed', 'MPI_File_errhandler_function *': 'file_failed',
             'MPI_Win_errhandler_function *': 'win_failed', 'MPI_Session_errhandler_function *': 'session_failed',
             'MPI_Grequest_query_function *': 'query', 'MPI_Grequest_free_function *': 'no_free',
             'MPI_Grequest_cancel_function *': 'no_cancel', 'MPI_Datarep_extent_function *': 'extent_of',
             **{f'MPI_{k}_copy_attr_function *': f'MPI_{k.upper()}_DUP_FN' for k in ('Comm', 'Type', 'Win')},
             **{f'MPI_{k}_delete_attr_function *': f'MPI_{k.upper()}_NULL_DELETE_FN' for k in ('Comm', 'Type', 'Win')}}
GOOD_HANDLES = {'comm': 'own_comm()', 'group': 'own_group()', 'op': 'MPI_SUM', 'win': 'own_win()', 'file': 'own_file()',
                'session': 'MPI_SESSION_NULL', 'message': 'MPI_MESSAGE_NO_PROC', 'info': 'own_info()',
                'errhandler': 'MPI_ERRORS_RETURN', 'request': 'own_request()', 'type': 'MPI_INT'}
NULLS = {'comm': 'MPI_COMM_NULL', 'group': 'MPI_GROUP_NULL', 'op': 'MPI_OP_NULL', 'win': 'MPI_WIN_NULL',
         'file': 'MPI_FILE_NULL', 'session': 'MPI_SESSION_NULL', 'message': 'MPI_MESSAGE_NULL', 'info': 'MPI_INFO_NULL',
         'errhandler': 'MPI_ERRHANDLER_NULL', 'request': 'MPI_REQUEST_NULL', 'type': 'MPI_DATATYPE_NULL'}
GOOD_INTS = {'rank': '0', 'tag': '3', 'error': 'MPI_ERR_TAG', 'keyval': 'MPI_TAG_UB', 'threads': 'MPI_THREAD_SINGLE',
             'amode': 'MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE', 'assertion': '0',
             'whence': 'MPI_SEEK_SET', 'order': 'MPI_ORDER_C', 'split_type': 'MPI_COMM_TYPE_SHARED',
             'lock_type': 'MPI_LOCK_SHARED', 'typeclass': 'MPI_TYPECLASS_INTEGER', 'pvar_class': 'MPI_T_PVAR_CLASS_LEVEL',
             'distribution': 'MPI_DISTRIBUTE_BLOCK', 'safety': 'MPI_T_CB_REQUIRE_NONE', 'combiner': '0',
             'comparison': '0', 'topology': '0', 'verbosity': '0', 'bind': '0', 'scope': '0', 'source_order': '0'}

PREAMBLE = pathlib.Path(__file__).with_name('calls.h').read_text()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def known(folder, names, what):
    """Those of the names that the family's header knows."""
    path = pathlib.Path(folder) / 'known.c'
    while True:
        path.write_text('\n'.join(['#include <stddef.h>', '#include <mpi.h>'] + [what.format(i, n) for i, n in enumerate(names)]) + '\n')
        result = run(compiler, '-w', '-std=gnu11', '-c', str(path), '-o', str(path) + '.o')
        bad = {int(line) - 3 for line in re.findall(r'known\.c:(\d+):\d+: error', result.stderr)}
        if not bad:
            if result.returncode:
                sys.exit(f"{compiler} fails: {result.stderr[:2000]}")
            return names
        names = [n for i, n in enumerate(names) if i not in bad]


class Writer:
    def __init__(self, constants, functions):
        self.constants, self.functions = set(constants), set(functions)
        self.groups = {}
        for c in model.read_constants():
            group = 'bind' if c.name.startswith('MPI_T_BIND') else c.group
            if c.name in self.constants - MISSING and not c.value[0].isalpha():
                self.groups.setdefault(group, []).append(c.name)

    def tables(self):
        for group, names in self.groups.items():
            if group in doors.HANDLES:
                c_type = f'MPI_{doors.HANDLES[group]}'
                yield f'static const struct {{ const char *name; {c_type} value; }} {group}_table[] = {{'
            elif group in GOOD_INTS:
                yield f'static const struct {{ const char *name; int value; }} {group}_table[] = {{'
            else:
                continue
            yield from (f'    {{"{n}", {n}}},' for n in names)
            yield '};'
            yield f'SHOW_{"HANDLE" if group in doors.HANDLES else "INT"}({group}' + \
                (f', MPI_{doors.HANDLES[group]})' if group in doors.HANDLES else ')')

    def group_of(self, function, p):
        if p.name in doors.GROUP_OF_NAME and function.name.startswith('MPI_T_'):
            return doors.GROUP_OF_NAME[p.name]
        return 'distribution' if p.kind_name == 'distribution' else doors.GROUP_OF_KIND.get(p.kind_name)

    def argument(self, function, p, large, i):
        """(declaration, expression, line that shows it afterwards or None, table or None)"""
        handle, group = doors.KIND_OF_HANDLE.get(p.kind_name), self.group_of(function, p)
        small = p.type_in(large)
        if handle:
            c_type, good = f'MPI_{doors.HANDLES[handle]}', GOOD_HANDLES[handle]
            table = f'{handle}_table' if handle in self.groups else None
            if p.is_array:
                return (f'{c_type} a{i}[8]; for (int k = 0; k < 8; k++) a{i}[k] = {good};', f'a{i}',
                        None if p.is_input else f'show_{handle}("{p.name}", a{i}[0]);', None)
            if p.is_input:
                # A failure of these calls goes to the handler that they get, which would end the process.
                ends = handle == 'errhandler' and '_from_group' in function.name
                return f'{c_type} a{i} = {good};', f'a{i}', None, None if ends else table
            if p.direction == '*':
                own = {'type': 'own_type()', 'op': 'own_op()', 'errhandler': 'own_errhandler()'}.get(handle, good)
                own = 'own_persistent()' if function.name.startswith('MPI_Start') else own
                return f'{c_type} a{i} = {own};', f'&a{i}', f'show_{handle}("{p.name}", a{i});', table
            return f'{c_type} a{i} = {NULLS[handle]};', f'&a{i}', f'show_{handle}("{p.name}", a{i});', None
        if p.kind_name == 'status':
            if p.is_array:
                return f'MPI_Status a{i}[8]; no_statuses(a{i}, 8);', f'a{i}', None, None
            return f'MPI_Status a{i} = own_status();', f'&a{i}', f'show_status(&a{i});', None
        if p.kind_name == 'fn':
            return '', FUNCTIONS.get(p.type_in(large), 'NULL'), None, None
        if p.kind_name == 'strings':
            return '', 'NULL', None, None
        if p.kind_name == 'string':
            if p.is_input:
                return '', f'(char *){STRINGS.get(p.name, chr(34) + "x" + chr(34))}', None, None
            return f'char a{i}[MPI_MAX_LIBRARY_VERSION_STRING + 9000] = "";', f'a{i}', f'show_text("{p.name}", a{i});', \
                None
        if p.kind_name in ('buf', 'pointer', 'opaque') and not group:
            room = f'static long a{i}[4096];'
            if p.kind_name == 'opaque':
                return f'{p.c_type} a{i} = 0;', f'&a{i}' if p.direction else f'a{i}', None, None
            return room, f'a{i}', None, None
        if p.is_array:
            base = GOOD_INTS['distribution'] if p.kind_name == 'distribution' else \
                '0' if p.kind_name in ('displacement', 'steps', 'address', 'rank', 'aint') or 'displs' in p.name else '1'
            fill = f'for (int k = 0; k < 8; k++) {{ a{i}[k] = {base}; }}'
            if len(p.lengths) == 2:
                return f'int a{i}[8][3] = {{{{0, 0, 1}}}};', f'a{i}', None, None
            show = None if p.is_input or p.kind_name == 'weight' else \
                f'show_{group}("{p.name}", a{i}[0]);' if group in self.groups else f'show_number("{p.name}", a{i}[0]);'
            return f'{small} a{i}[4096]; {fill}', f'a{i}', show, None
        good = BY_NAME.get(p.name) or ('MPI_PROC_NULL' if p.kind_name in ('peer', 'source') else GOOD_INTS.get(group, '1'))
        if p.is_input:
            # From any source a receive would wait.
            waits = p.kind_name == 'source' and re.match('MPI_(Recv|Sendrecv)', function.name) and '_init' not in function.name
            table = f'{group}_table' if group in self.groups and not waits else None
            return f'{small} a{i} = ({small})({good});', f'a{i}', None, table
        shown = f'show_{group}("{p.name}", (int)a{i});' if group in self.groups else f'show_number("{p.name}", a{i});'
        if p.kind_name == 'aint' or p.name in ('array_of_errcodes',) or 'T_' in function.name and not group:
            shown = None
        return f'{small} a{i} = ({small})({good if p.direction == "*" else 0});', f'&a{i}', shown, None

    def call(self, function, large):
        name = function.name_in(large)
        parts = [self.argument(function, p, large, i) for i, p in enumerate(function.parameters_in(large))]
        parameters = function.parameters_in(large)
        yield f'static void call_{name}(int focus, int choice)'
        yield '{'
        for i, (declaration, _, _, table) in enumerate(parts):
            if declaration:
                yield f'    {declaration}'
            if table:
                yield f'    if (focus == {i})\n        a{i} = {table}[choice].value;'
        yield '    (void)focus, (void)choice;'
        yield f'    begin("{name}", focus < 0 ? "" : names[focus], focus < 0 ? "" : value_name(focus, choice));' \
            .replace('names[', f'names_{name}[').replace('value_name(', f'value_{name}(')
        arguments = ', '.join(expression for _, expression, _, _ in parts)
        if function.result:
            yield f'    (void){name}({arguments});\n    result(MPI_SUCCESS);'
        else:
            yield f'    if (result({name}({arguments})) == MPI_SUCCESS) {{'
            yield from (f'        {show}' for _, _, show, _ in parts if show)
            yield '    }'
        yield '    puts("");\n}\n'
        self.rows.append((name, [f'{p.name}' for p in parameters], [part[3] for part in parts]))

    def text(self):
        self.rows, calls = [], []
        for function in model.read_functions():
            if not function.is_exported or function.name[4:] in LEFT_OUT or \
                    re.search(r'_(toint|fromint)$', function.name):
                continue
            for large in function.forms:
                if function.name_in(large) in self.functions:
                    calls += list(self.call(function, large))
        lines = list(self.tables()) + [PREAMBLE.split('/* ---- tables above ---- */')[1]]
        for name, names, tables in self.rows:
            lines.append(f'static const char *const names_{name}[] = {{{", ".join(chr(34) + n + chr(34) for n in names) or 0}}};')
            lines += [f'static const char *value_{name}(int focus, int choice)', '{', '    (void)choice;',
                      '    switch (focus) {']
            lines += [f'    case {i}: return {t}[choice].name;' for i, t in enumerate(tables) if t]
            lines += ['    default: return "";', '    }', '}']
        lines += calls + ['static const struct function functions[] = {']
        for name, names, tables in self.rows:
            counts = ', '.join(f'COUNT({t})' if t else '0' for t in tables)
            lines.append(f'    {{"{name}", call_{name}, {len(names)}, {{{counts or 0}}}}},')
        lines += ['};', 'int main(void) { return run_all(functions, COUNT(functions)); }', '']
        return PREAMBLE.split('/* ---- tables above ---- */')[0] + '\n'.join(lines)


def main():
    wanted = sys.argv[5] if len(sys.argv) > 5 else None
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'calls.c'
        if run('sh', '-c', f'echo "#include <mpi.h>" | {compiler} -c -x c -o /dev/null -').returncode:
            print(f'NOT TESTED: no {compiler} with an mpi.h (Debian: lib{family_name}-dev)')
            return 77
        all_functions = [f.name_in(large) for f in model.read_functions() for large in f.forms]
        constants = known(folder, [c.name for c in model.read_constants()], 'long use_{0}(void) {{ return (long)({1}); }}')
        functions = known(folder, all_functions, 'void *use_{0} = (void *){1};')
        program.write_text(Writer(constants, functions).text())
        outputs = []
        for command, path in (([compiler], f'{build}/lib/murmur/compat'),
                              (['gcc', f'-I{build}/include', f'-L{build}/src', '-lmpi_abi'], f'{build}/src')):
            binary = f'{folder}/calls-{len(outputs)}'
            result = run(command[0], '-w', '-std=gnu11', '-O0', str(program), '-o', binary, *command[1:])
            if result.returncode:
                sys.exit(f'the program does not compile: {result.stderr[:3000]}')
            home = pathlib.Path(folder) / f'home-{len(outputs)}'
            home.mkdir()
            with open(f'{binary}.out', 'w') as out, open(f'{binary}.err', 'w') as err:
                code = subprocess.run(['env', '-C', str(home), f'LD_LIBRARY_PATH={path}', binary], stdin=subprocess.DEVNULL,
                                      stdout=out, stderr=err, timeout=300).returncode
            if code:
                sys.exit(f'{binary} failed with {code}: {pathlib.Path(binary + ".err").read_text()[-3000:]}')
            outputs.append(pathlib.Path(binary + '.out').read_text(errors='replace').splitlines())
        if wanted:
            print('\n'.join(line for line in outputs[0] if line.startswith(wanted + '(')))
        # What a family's older versions have no class for has another there (constants.txt, "older").
        for name, older in doors.Family(family_name).older.items():
            value = doors.Family(family_name).our_value(name)
            outputs[1] = [re.sub(rf'\b(result|errorclass|MPI_ERROR)=({value}|{name})\b', rf'\1={older}', line)
                          for line in outputs[1]]
        different = [f'door:     {a}\nstandard: {b}' for a, b in zip(*outputs) if a != b]
        called = {line.split('(')[0] for line in outputs[0]}
        print('\n'.join(different[:40]))
        print(f'{len(called)} functions, {len(outputs[0])} calls, {len(different)} of them different')
        return 1 if different or len(outputs[0]) != len(outputs[1]) or len(called) < 250 else 0


if __name__ == '__main__':
    sys.exit(main())
