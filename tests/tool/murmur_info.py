#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""murmur-info: what it prints as JSON is well-formed, names every setting of the table, in the values of the
environment, and every counter; the text says the same; wrong arguments are refused: murmur_info.py PROGRAM SOURCE_DIR"""
import json
import os
import pathlib
import re
import subprocess
import sys

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
clean = {name: value for name, value in os.environ.items() if not name.startswith('MUR_')}


def run(*arguments, code=0, **environment):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, env={**clean, **environment})
    assert done.returncode == code, (arguments, done)
    return done.stdout, done.stderr


document = json.loads(run('--json')[0])
settings = {s['name']: s for s in document['settings']}
counters = {c['name']: c for c in document['counters']}

table = set(re.findall(r'^\s*\{"(MUR_\w+)"', (source / 'src/base/settings.c').read_text(), re.M))
assert len(table) > 20 and table == set(settings), table ^ set(settings)
read = set(re.findall(r'getenv\("(MUR_\w+)"\)',
                      ''.join(p.read_text() for p in (source / 'src').rglob('*.c'))))
assert read <= table, f'read from the environment, but in no table: {read - table}'
for s in settings.values():
    assert s['meaning'] and s['part'] and s['unit'] and s['value'] == s['default'], s

rows = set(re.findall(r'^\s*(?:EVENTS\(|BYTES\(|\{)"(\w+)"', (source / 'src/base/counters.c').read_text(), re.M))
assert len(rows) > 30 and rows <= set(counters), rows - set(counters)
assert all(c['meaning'] and c['part'] for c in counters.values())
assert 'allreduce_rabenseifner' in counters and counters['puts']['value'] == 0
assert 'Murmur' in document['version'] and document['build'] and document['found']['host']

text = run()[0]
for name in [*settings, *counters]:
    assert re.search(rf'^{re.escape(name)}\s', text, re.M), name

changed, complaint = run('--json', MUR_SHM_EAGER_MAX='2k', MUR_COLL='a"b\\c\n', MUR_WAIT_SPIN='much')
changed = {s['name']: s['value'] for s in json.loads(changed)['settings']}
assert changed['MUR_SHM_EAGER_MAX'] == 2048 and changed['MUR_COLL'] == 'a"b\\c\n' and changed['MUR_WAIT_SPIN'] == -1
assert "MUR_WAIT_SPIN is 'much'" in complaint

assert '--json' in run('--help')[0]
assert '--json' in run('--jason', code=2)[1] and '--json' in run('--json', 'more', code=2)[1]
full = subprocess.run([program, '--json'], stdout=open('/dev/full', 'w'), stderr=subprocess.PIPE, text=True, env=clean)
assert full.returncode == 1 and 'space' in full.stderr
