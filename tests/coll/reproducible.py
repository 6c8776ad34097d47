# SPDX-License-Identifier: BSD-3-Clause
"""Runs reproducible.c with the ranks on one node, on several in various ways, and over TCP: the results have the same
bits. Without the setting they differ somewhere, or the test would not test anything."""

import os
import subprocess
import sys

mpiexec, program = sys.argv[1:]
PLACEMENTS = [{}, {'MUR_NODES': '4'}, {'MUR_NODES': '2'}, {'MUR_NODES': '3,1,4'}, {'MUR_NODES': '*3'}, {'MUR_NODES': '1'},
              {'MUR_TRANSPORT': 'tcp'}, {'MUR_COLL_BOARD': '0'}, {'MUR_SHM_SINGLE_COPY': '0', 'MUR_COLL_PIECE': '4000'},
              {'MUR_NODES': '2', 'MUR_COLL': 'allreduce:ring,reduce:chain,reduce_scatter:pairwise'}]


def digest(ranks, settings, *arguments):
    run = subprocess.run([mpiexec, '-n', str(ranks), program, *arguments], capture_output=True, text=True, timeout=60,
                         env={**os.environ, **settings})
    if run.returncode:
        sys.exit(f'{ranks} ranks, {settings}: code {run.returncode}\n{run.stdout}{run.stderr}')
    return run.stdout.split()[-1]


for ranks in (3, 8):
    found = [digest(ranks, {'MUR_COLL_REPRODUCIBLE': '1', **placement}) for placement in PLACEMENTS]
    for placement, result in zip(PLACEMENTS, found):
        print(ranks, 'ranks', result, placement)
    assert len(set(found)) == 1, 'the results differ'
free = {digest(8, placement, 'any') for placement in PLACEMENTS}
assert len(free) > 1, 'the data do not depend on the order'
print(len(free), 'results without the setting')
