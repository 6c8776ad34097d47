#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Heat in a square plate, in Python with NumPy and mpi4py: each rank has some rows of the plate and, above and below
them, copies of its neighbours' rows (the halo), which are exchanged before each step.

    mpiexec -n 4 python3 halo.py [ROWS [STEPS]]
"""

import sys

import numpy
from mpi4py import MPI


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    world = MPI.COMM_WORLD
    line = world.Create_cart([world.size], periods=[False])
    above, below = line.Shift(0, 1)  # MPI.PROC_NULL at the edges of the plate

    first, last = rows * line.rank // line.size, rows * (line.rank + 1) // line.size
    plate = numpy.zeros((last - first + 2, rows + 2))
    if above == MPI.PROC_NULL:
        plate[0] = 100.0  # the hot edge

    for _ in range(steps):
        if last > first:
            line.Sendrecv(plate[1], dest=above, recvbuf=plate[-1], source=below)
            line.Sendrecv(plate[-2], dest=below, recvbuf=plate[0], source=above)
        plate[1:-1, 1:-1] = (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]) / 4

    heat = line.allreduce(plate[1:-1, 1:-1].sum())
    if line.rank == 0:
        print(f'{rows} x {rows} on {line.size} ranks, {steps} steps: mean temperature {heat / rows**2:.6f}')


if __name__ == '__main__':
    main()
