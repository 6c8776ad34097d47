/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups, info objects, names and bounds of datatypes through the public interface, as programs use them; and what
 * MPI tells about threads. */
#include "test.h"

static void groups(void)
{
    int size, rank, some[3] = {0, 2, 4}, ranges[1][3] = {{0, 4, 2}}, translated[3], got, result;
    MPI_Group world, six, even, odd, both, none, again;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_rank(world, &rank);
    MPI_Group_size(world, &size);
    CHECK(rank >= 0 && rank < size);
    if (size < 6)
        return (void)MPI_Group_free(&world);
    MPI_Group_range_incl(world, 1, (int[1][3]){{0, 5, 1}}, &six);
    MPI_Group_incl(six, 3, some, &even);
    MPI_Group_excl(six, 3, some, &odd);
    MPI_Group_union(even, odd, &both);
    MPI_Group_compare(both, six, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Group_intersection(even, odd, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    MPI_Group_difference(six, odd, &again);
    MPI_Group_compare(again, even, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&again);
    MPI_Group_range_excl(six, 1, ranges, &again);
    MPI_Group_compare(again, odd, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_translate_ranks(odd, 3, (int[]){0, 1, MPI_PROC_NULL}, six, translated);
    CHECK(translated[0] == 1 && translated[1] == 3 && translated[2] == MPI_PROC_NULL);
    MPI_Group_translate_ranks(even, 1, (int[]){1}, odd, translated);
    CHECK(translated[0] == MPI_UNDEFINED);
    MPI_Group_rank(even, &got);
    CHECK(got == (rank % 2 || rank > 4 ? MPI_UNDEFINED : rank / 2));
    MPI_Group_free(&world);
    MPI_Group_free(&six);
    MPI_Group_free(&even);
    MPI_Group_free(&odd);
    MPI_Group_free(&both);
    MPI_Group_free(&again);
}

static void infos(void)
{
    char key[MPI_MAX_INFO_KEY], value[8];
    int count, flag, length;
    MPI_Info info, copy;

    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "22");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "one");
    MPI_Info_get_nkeys(info, &count);
    CHECK(count == 1);
    MPI_Info_get_nkeys(copy, &count);
    CHECK(count == 2);
    MPI_Info_get_nthkey(copy, 1, key);
    CHECK(!strcmp(key, "two"));
    MPI_Info_get(copy, "two", 7, value, &flag);
    CHECK(flag && !strcmp(value, "22"));
    MPI_Info_get_valuelen(copy, "two", &length, &flag);
    CHECK(flag && length == 2);
    MPI_Info_get_valuelen(copy, "three", &length, &flag);
    CHECK(!flag);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
}

static void types(void)
{
    int gsizes[2] = {4, 6}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
        dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, psizes[2] = {2, 1}, size, length;
    MPI_Count wide_gsizes[2] = {4, 6}, lb_c, extent_c, displacements_c[2] = {0, 16}, size_c;
    MPI_Aint lb, extent, displacements[2] = {0, 16};
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype type;

    MPI_Type_create_darray(2, 1, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_size(type, &size);
    CHECK(lb == 0 && extent == 96 && size == 48);
    MPI_Type_get_true_extent(type, &lb, &extent);
    CHECK(lb == 48 && extent == 48);
    MPI_Type_get_extent_x(type, &lb_c, &extent_c);
    CHECK(lb_c == 0 && extent_c == 96);
    MPI_Type_get_true_extent_x(type, &lb_c, &extent_c);
    CHECK(lb_c == 48 && extent_c == 48);
    MPI_Type_size_x(type, &size_c);
    CHECK(size_c == 48);
    MPI_Type_set_name(type, "rows");
    MPI_Type_get_name(type, name, &length);
    CHECK(!strcmp(name, "rows") && length == 4);
    MPI_Type_free(&type);
    MPI_Type_create_darray_c(2, 0, 2, wide_gsizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 48);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed_block(2, 2, displacements, MPI_INT, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(extent == 24);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed_block_c(2, 2, displacements_c, MPI_INT, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 16);
    MPI_Type_free(&type);
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(!strcmp(name, "MPI_DOUBLE"));
}

static void packing(void)
{
    int in[3] = {1, 2, 3}, out[3] = {0};
    char buffer[64];
    MPI_Count bytes, position = 0;

    MPI_Pack_size_c(3, MPI_INT, MPI_COMM_WORLD, &bytes);
    CHECK(bytes >= 12);
    MPI_Pack_c(in, 3, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack_c(buffer, 64, &position, out, 3, MPI_INT, MPI_COMM_WORLD);
    CHECK(out[2] == 3 && position == 12);
    MPI_Pack_external_size_c("external32", 3, MPI_INT, &bytes);
    CHECK(bytes == 12);
    position = 0;
    MPI_Pack_external_c("external32", in, 3, MPI_INT, buffer, 64, &position);
    CHECK(buffer[3] == 1 && position == 12);
    position = 0;
    MPI_Unpack_external_c("external32", buffer, 12, &position, out, 3, MPI_INT);
    CHECK(out[0] == 1 && out[1] == 2);
}

static void nothing(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)length;
    (void)type;
}

static void operations(void)
{
    double in[3] = {1, 2, 3}, out[3] = {10, 20, 30};
    int flag;
    MPI_Op op;

    MPI_Reduce_local(in, out, 3, MPI_DOUBLE, MPI_SUM);
    MPI_Reduce_local_c(in, out, 3, MPI_DOUBLE, MPI_PROD);
    CHECK(out[0] == 11 && out[2] == 99);
    MPI_Op_create(nothing, 0, &op);
    MPI_Op_commutative(op, &flag);
    CHECK(!flag);
    MPI_Op_free(&op);
    MPI_Op_commutative(MPI_SUM, &flag);
    CHECK(flag);
}

int main(int argc, char **argv)
{
    int provided, level, flag;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&flag);
    CHECK(level == provided && provided >= MPI_THREAD_FUNNELED && flag);
    groups();
    infos();
    types();
    packing();
    operations();
    MPI_Pcontrol(1);
    MPI_Finalize();
    return 0;
}
