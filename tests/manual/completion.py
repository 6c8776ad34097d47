#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Completion of mpiexec: completion.py SOURCES BUILD. bash, zsh and fish themselves are asked, where they are there."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCES, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
sys.path.insert(0, str(SOURCES / 'tools/manual'))
import tables

SHARE = BUILD / 'share'
NAMES = sorted(name for topic in tables.topics() for option in topic.options for name in option.names if name != '?')
wrong = []


def expect(what, got, wanted):
    if sorted(got) != sorted(wanted):
        wrong.append(f'{what}: got {sorted(got)}, wanted {sorted(wanted)}')


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.stderr:
        wrong.append(f'{words[0]}: {done.stderr[:400]}')
    return done.stdout.split('\n')[:-1]


def by_bash(*words, folder, program='mpiexec'):
    """What bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_murmur_$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    got = run(['bash', '--norc', '-c', script, 'bash', SHARE / 'bash-completion/completions' / program, program, *words],
              cwd=folder)
    return [word for word in got if word]


def check_bash(folder):
    script = 'source "$1" && complete -p mpiexec mpirun'
    got = run(['bash', '--norc', '-c', script, 'bash', SHARE / 'bash-completion/completions/mpiexec'])
    expect('complete -p', [line.split()[-1] for line in got if '_murmur_mpiexec' in line], ['mpiexec', 'mpirun'])
    expect('-', by_bash('-', folder=folder), ['-' + name for name in NAMES])
    expect('--map-', by_bash('--map-', folder=folder), ['--map-by'])
    expect('-bind-to c', by_bash('-n', '4', '-bind-to', 'c', folder=folder), ['core'])
    expect('-hostfile h', by_bash('-hostfile', 'h', folder=folder), ['hosts one'])
    expect('-wdir', by_bash('-wdir', '', folder=folder), ['directory'])
    expect('-n', by_bash('-n', '', folder=folder), [])
    expect('-env NAME', by_bash('-env', 'NAME', '', folder=folder), [])
    expect('-help h', by_bash('-help', 'h', folder=folder), ['habits', 'hosts'])
    expect("a program's file", by_bash('./program', 'ho', folder=folder), ['hosts one'])
    expect("behind ':'", by_bash('./program', '-l', ':', '-map-', folder=folder), ['-map-by'])
    expect('mpijob s', by_bash('s', folder=folder, program='mpijob'), ['serve', 'suspend'])
    expect('mpijob serve --c', by_bash('serve', '--c', folder=folder, program='mpijob'), ['--cert'])
    expect('mpijob console --tls-k', by_bash('console', '--tls-k', folder=folder, program='mpijob'), ['--tls-key'])
    expect('mpijob run --set', by_bash('run', '--set', folder=folder, program='mpijob'), ['--set-status'])
    expect('mpijob logs --f', by_bash('logs', '--f', folder=folder, program='mpijob'), ['--follow'])
    expect('mpijob run h', by_bash('run', 'h', folder=folder, program='mpijob'), ['hosts one'])
    if 'ls' not in by_bash('-n', '4', 'l', folder=folder):
        wrong.append('bash offers no programs')


def check_zsh(folder):
    if not shutil.which('zsh'):
        print('left out: zsh, which is not there')
        return
    script = 'fpath=($1 $fpath); autoload -Uz compinit; compinit -D -u; print -r -- $_comps[mpiexec] $_comps[mpirun]; ' \
             'autoload +X _mpiexec && print loaded'
    expect('zsh', run(['zsh', '-f', '-c', script, 'zsh', SHARE / 'zsh/site-functions'], cwd=folder),
           ['_mpiexec _mpiexec', 'loaded'])
    # A terminal of its own, in which zsh completes: keys go in, what it shows comes out. Keys that come before zsh reads
    # them are first echoed by the terminal, with ^A for that key: that line is not the result.
    keys = "zpty z zsh -f; zpty -w z 'PS1=; fpath=('$1' $fpath); autoload -Uz compinit; compinit -D -u'; " \
           "zpty -w z 'zstyle \":completion:*\" list-prompt \"\"; LISTMAX=9999; print rea''dy'; " \
           "while zpty -r z line && [[ $line != ready* ]]; do :; done; " \
           "zpty -n -w z $'mpiexec -bind-to co\\t ./x\\C-a print -r -- \\n'; " \
           "while zpty -r z line; do [[ $line == mpiexec* && $line != *^A* ]] && break; done; print -r -- ${line%%$'\\r'*}; zpty -d z"
    got = run(['zsh', '-f', '-c', 'zmodload zsh/zpty; ' + keys, 'zsh', SHARE / 'zsh/site-functions'], cwd=folder,
              timeout=60)
    if not any(line.split()[:3] == ['mpiexec', '-bind-to', 'core'] for line in got):
        wrong.append(f'zsh completes -bind-to co as {got}')


def check_fish(folder):
    if not shutil.which('fish'):
        print('left out: fish, which is not there')
        return
    path = SHARE / 'fish/vendor_completions.d/mpiexec.fish'
    environment = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder)

    def ask(line):
        got = run(['fish', '--no-config', '-c', f'source {path}; complete -C "{line}"'], cwd=folder, env=environment)
        return [word.split('\t')[0] for word in got]

    expect('fish: -map-', ask('mpiexec -map-'), ['-map-by'])
    expect('fish: -bind-to c', ask('mpiexec -bind-to c'), ['core'])
    expect('fish: mpirun -timeo', ask('mpirun -timeo'), ['-timeout'])


with tempfile.TemporaryDirectory() as work:
    (pathlib.Path(work) / 'hosts one').touch()
    (pathlib.Path(work) / 'directory').mkdir()
    for check in (check_bash, check_zsh, check_fish):
        check(work)
print('\n'.join(wrong) if wrong else 'the shells complete what they should')
sys.exit(1 if wrong else 0)
