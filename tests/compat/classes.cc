// SPDX-License-Identifier: BSD-3-Clause
// MPI-2's classes of C++ as Open MPI's headers have them: predefined objects, what is not inline, and an operation that
// is a function of C++. Runs on any number of ranks.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

static void check(bool condition, const char *what)
{
    if (condition)
        return;
    std::printf("not so: %s\n", what);
    MPI::COMM_WORLD.Abort(1);
}

static void multiply(const void *in, void *inout, int count, const MPI::Datatype &datatype)
{
    const int *a = static_cast<const int *>(in);
    int *b = static_cast<int *>(inout);

    check(datatype == MPI::INT, "the datatype of an operation");
    for (int i = 0; i < count; i++)
        b[i] *= a[i];
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    const int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    int value = rank + 1, sum = 0, got = 0, two = 2, product = 0;

    MPI::COMM_WORLD.Allreduce(&value, &sum, 1, MPI::INT, MPI::SUM);
    check(sum == size * (size + 1) / 2, "a sum");
    MPI::Intracomm copy = MPI::COMM_WORLD.Dup();
    MPI::Status status;
    const int left = (rank + size - 1) % size;
    copy.Sendrecv(&value, 1, MPI::INT, (rank + 1) % size, 3, &got, 1, MPI::INT, left, 3, status);
    check(got == left + 1 && status.Get_source() == left && status.Get_count(MPI::INT) == 1, "a message");
    MPI::Op op;
    op.Init(multiply, true);
    copy.Allreduce(&two, &product, 1, MPI::INT, op);
    check(product == 1 << size, "an operation of the program");
    op.Free();
    MPI::Datatype pair = MPI::INT.Create_contiguous(2);
    pair.Commit();
    check(pair.Get_size() == 8, "a datatype");
    pair.Free();
    check(pair == MPI::DATATYPE_NULL, "a freed datatype");
    copy.Free();
    check(copy == MPI::COMM_NULL, "a freed communicator");
    MPI::Finalize();
    if (rank == 0)
        std::puts("good");
    return 0;
}
