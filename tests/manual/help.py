#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec -help: help.py SOURCES MPIEXEC. The overview names each topic; a topic and the overview fit on a screen of 40
lines of 100 columns; each option of the tables is told of by name and in one topic; what is unknown is refused."""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sources, mpiexec = sys.argv[1:3]
sys.path.insert(0, str(pathlib.Path(sources) / 'tools/manual'))
import tables

wrong = []


def help_of(*words, code=0):
    done = subprocess.run([mpiexec, '-help', *words], capture_output=True, text=True)
    if done.returncode != code:
        wrong.append(f'-help {words}: exit code {done.returncode}, wanted {code}')
    return done.stdout if code == 0 else done.stderr


def check_screen(name, text):
    lines = text.rstrip('\n').split('\n')
    if not 1 <= len(lines) <= 40:
        wrong.append(f'-help {name} has {len(lines)} lines')
    for line in lines:
        if len(line) > 100:
            wrong.append(f'-help {name} has a line of {len(line)} columns: {line}')


overview = help_of()
check_screen('', overview)
everything = help_of('all')
topics = tables.topics()
if len(topics) < 10:
    wrong.append(f'only {len(topics)} topics were found')
for topic in topics:
    text = help_of(topic.name)
    check_screen(topic.name, text)
    if not re.search(rf'(?m)^  {topic.name} ', overview):
        wrong.append(f'the overview does not name {topic.name}')
    if text not in everything:
        wrong.append(f'-help all does not have what -help {topic.name} says')
    for option in topic.options:
        for name in option.names:
            if f'-{name}' not in text:
                wrong.append(f'-help {topic.name} has no -{name}')
            if f'-{option.names[0]}' not in help_of(name):
                wrong.append(f'-help {name} does not tell of -{option.names[0]}')
if 'no such topic' not in help_of('nonsense', code=2):
    wrong.append('-help nonsense is not refused as it should be')
print('\n'.join(wrong) if wrong else 'all is told')
sys.exit(1 if wrong else 0)
