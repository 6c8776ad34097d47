/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of choices (coll/choose.h says how it is read). bench/tune measures the candidates and writes the rows
 * between the two marks anew. Small messages cost rounds, large ones bytes; on several nodes what their ranks have in
 * common should cross the network once. */
#include "coll/choose.h"

/* clang-format off */
const struct mur_row mur_table[] = {
    /* kind, spread, from ranks, from bytes, algorithm */
    /* begin of the rows that bench/tune writes */
    {MUR_BARRIER,         MUR_ONE_NODE, 2,       0, "dissemination"},
    {MUR_BARRIER,         MUR_APART,    2,       0, "dissemination"},
    {MUR_BARRIER,         MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_BCAST,           MUR_ONE_NODE, 2,       0, "binomial"},
    {MUR_BCAST,           MUR_ONE_NODE, 8,  524288, "scatter-allgather"},
    {MUR_BCAST,           MUR_APART,    2,       0, "binomial"},
    {MUR_BCAST,           MUR_APART,    3,  262144, "chain"},
    {MUR_BCAST,           MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_GATHER,          MUR_ONE_NODE, 2,       0, "linear"},
    {MUR_GATHER,          MUR_ONE_NODE, 8,       0, "binomial"},
    {MUR_GATHER,          MUR_ONE_NODE, 8,    2048, "linear"},
    {MUR_GATHER,          MUR_APART,    2,       0, "linear"},
    {MUR_GATHER,          MUR_APART,    8,       0, "binomial"},
    {MUR_GATHER,          MUR_APART,    8,    2048, "linear"},
    {MUR_GATHER,          MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_GATHER,          MUR_MIXED,    2,   65536, "linear"},
    {MUR_SCATTER,         MUR_ONE_NODE, 2,       0, "linear"},
    {MUR_SCATTER,         MUR_ONE_NODE, 8,       0, "binomial"},
    {MUR_SCATTER,         MUR_ONE_NODE, 8,    2048, "linear"},
    {MUR_SCATTER,         MUR_APART,    2,       0, "linear"},
    {MUR_SCATTER,         MUR_APART,    4,       0, "binomial"},
    {MUR_SCATTER,         MUR_APART,    4,   16384, "linear"},
    {MUR_SCATTER,         MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_SCATTER,         MUR_MIXED,    2,   65536, "linear"},
    {MUR_ALLGATHER,       MUR_ONE_NODE, 2,       0, "ring"},
    {MUR_ALLGATHER,       MUR_ONE_NODE, 4,       0, "bruck"},
    {MUR_ALLGATHER,       MUR_ONE_NODE, 4,    4096, "ring"},
    {MUR_ALLGATHER,       MUR_APART,    2,       0, "ring"},
    {MUR_ALLGATHER,       MUR_APART,    4,       0, "bruck"},
    {MUR_ALLGATHER,       MUR_APART,    4,   32768, "ring"},
    {MUR_ALLGATHER,       MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_ALLTOALL,        MUR_ONE_NODE, 2,       0, "pairwise"},
    {MUR_ALLTOALL,        MUR_ONE_NODE, 8,       0, "bruck"},
    {MUR_ALLTOALL,        MUR_ONE_NODE, 8,     256, "pairwise"},
    {MUR_ALLTOALL,        MUR_APART,    2,       0, "pairwise"},
    {MUR_ALLTOALL,        MUR_APART,    8,       0, "bruck"},
    {MUR_ALLTOALL,        MUR_APART,    8,     256, "pairwise"},
    {MUR_ALLTOALL,        MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_ALLTOALL,        MUR_MIXED,    2,    1024, "pairwise"},
    {MUR_REDUCE,          MUR_ONE_NODE, 2,       0, "binomial"},
    {MUR_REDUCE,          MUR_ONE_NODE, 3,  262144, "binomial-pieces"},
    {MUR_REDUCE,          MUR_APART,    2,       0, "binomial"},
    {MUR_REDUCE,          MUR_APART,    3,  262144, "chain"},
    {MUR_REDUCE,          MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_REDUCE,          MUR_MIXED,    2,   32768, "hierarchical-pieces"},
    {MUR_ALLREDUCE,       MUR_ONE_NODE, 2,       0, "recursive-doubling"},
    {MUR_ALLREDUCE,       MUR_ONE_NODE, 4,   32768, "rabenseifner"},
    {MUR_ALLREDUCE,       MUR_APART,    2,       0, "recursive-doubling"},
    {MUR_ALLREDUCE,       MUR_APART,    3,  131072, "rabenseifner"},
    {MUR_ALLREDUCE,       MUR_APART,    3, 1048576, "ring"},
    {MUR_ALLREDUCE,       MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_ALLREDUCE,       MUR_MIXED,    2, 1048576, "ring"},
    {MUR_REDUCE_SCATTER,  MUR_ONE_NODE, 2,       0, "halving"},
    {MUR_REDUCE_SCATTER,  MUR_ONE_NODE, 2,  262144, "pairwise"},
    {MUR_REDUCE_SCATTER,  MUR_APART,    2,       0, "halving"},
    {MUR_REDUCE_SCATTER,  MUR_APART,    2,  262144, "pairwise"},
    {MUR_REDUCE_SCATTER,  MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_SCAN,            MUR_ONE_NODE, 2,       0, "recursive-doubling"},
    {MUR_SCAN,            MUR_APART,    2,       0, "recursive-doubling"},
    {MUR_SCAN,            MUR_MIXED,    2,       0, "recursive-doubling"},
    {MUR_SCAN,            MUR_MIXED,    2,       0, "hierarchical"},
    {MUR_EXSCAN,          MUR_MIXED,    2,       0, "hierarchical"},
    /* end of the rows */
};
/* clang-format on */
const size_t mur_table_count = sizeof mur_table / sizeof mur_table[0];
_Static_assert(sizeof mur_table / sizeof mur_table[0] <= MUR_TABLE_ROWS_MAX, "rows are looked up once");
