# SPDX-License-Identifier: BSD-3-Clause
"""Memory that cannot be had at one rank while a communicator is made: every other rank hears of it, since the job ends
with a word, or it is done without. Nothing hangs. For each function, one run for each allocation of a rank, until the
number is beyond its last: memory.py MPIEXEC PROGRAM NODES RANK."""
import os
import subprocess
import sys

mpiexec, program, nodes, rank = sys.argv[1:]
functions = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
for function in functions:
    for which in range(200):
        run = subprocess.run([mpiexec, "-n", "4", program, function, rank, str(which)], capture_output=True, text=True,
                             timeout=30, env=dict(os.environ, MUR_NODES=nodes))
        if run.returncode == 0:
            break
        if run.returncode != 4 and "no memory" not in run.stderr:
            sys.exit(f"{function}, allocation {which}: exit code {run.returncode}\n{run.stderr}")
    print(f"{function}: {which} allocations")
    if not which:
        sys.exit("there should have been some")
