# SPDX-License-Identifier: BSD-3-Clause
"""Memory that cannot be had at one rank in a collective of several ends the job, and says so; nothing hangs. One run
for each allocation of the rank, until the number is beyond the last: then the collective succeeds."""
import os
import subprocess
import sys

mpiexec, program, ranks = sys.argv[1:4]
chains = "bcast:chain,reduce:chain,allreduce:reduce-bcast"
for form in "012":
    for board in "01":
        environment = dict(os.environ, MUR_COLL_BOARD=board, MUR_COLL=chains if board == "0" else "", MUR_COLL_PIECE="4096")
        for which in range(1000):
            run = subprocess.run([mpiexec, "-n", ranks, program, str(which), form], env=environment, timeout=30,
                                 capture_output=True, text=True)
            if run.returncode == 0:
                break
            if run.returncode != 4 and "no memory" not in run.stderr:
                sys.exit(f"form {form}, board {board}, allocation {which}: exit code {run.returncode}\n{run.stderr}")
        print(f"form {form}, board {board}: {which} allocations")
        if board == "0" and ranks != "1" and which < 3:
            sys.exit("there should have been some")
