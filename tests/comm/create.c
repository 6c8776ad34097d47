/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators: split with random colours and keys against a computed answer, dup, create and create_group with
 * overlapping groups, compare, names, separation of their messages, free while messages are under way, and far more of
 * them one after the other than there are context ids. */
#include "random.h"

static int rank, size;

static void split(void)
{
    int colors[64], keys[64], new_rank = 0, new_size = 0, got[2];
    MPI_Comm part;

    for (int i = 0; i < size; i++) {
        colors[i] = random_below(4) ? random_below(3) : MPI_UNDEFINED;
        keys[i] = random_below(5) - 2;
    }
    MPI_Comm_split(MPI_COMM_WORLD, colors[rank], keys[rank], &part);
    CHECK((part == MPI_COMM_NULL) == (colors[rank] == MPI_UNDEFINED));
    if (part == MPI_COMM_NULL)
        return;
    for (int i = 0; i < size; i++)
        if (colors[i] == colors[rank]) {
            new_size++;
            new_rank += keys[i] < keys[rank] || (keys[i] == keys[rank] && i < rank);
        }
    MPI_Comm_rank(part, &got[0]);
    MPI_Comm_size(part, &got[1]);
    CHECK(got[0] == new_rank && got[1] == new_size);
    MPI_Allreduce(&rank, got, 1, MPI_INT, MPI_MAX, part);
    for (int i = 0; i < size; i++)
        CHECK(colors[i] != colors[rank] || i <= got[0]);
    MPI_Comm_free(&part);
    CHECK(part == MPI_COMM_NULL);
}

static void compare(void)
{
    MPI_Comm copy, reversed, self;
    int result;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(MPI_COMM_WORLD, reversed, &result);
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_test_inter(self, &result);
    CHECK(!result);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&self);
}

/* Groups of a random set of ranks, made by their members only, one after the other; they overlap. */
static void create_group(void)
{
    MPI_Group world, part;
    MPI_Comm made;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int turn = 0; turn < 10; turn++) {
        int members[64], count = 0, is_member = 0, sum, wanted = 0;

        for (int i = 0; i < size; i++)
            if (random_below(2)) {
                members[count++] = i;
                is_member |= i == rank;
                wanted += i;
            }
        MPI_Group_incl(world, count, members, &part);
        if (is_member) {
            MPI_Comm_create_group(MPI_COMM_WORLD, part, 3, &made);
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
            CHECK(sum == wanted);
            MPI_Comm_free(&made);
        }
        MPI_Comm_create(MPI_COMM_WORLD, part, &made);
        CHECK((made != MPI_COMM_NULL) == is_member);
        if (made != MPI_COMM_NULL) {
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
            CHECK(sum == wanted);
            MPI_Comm_free(&made);
        }
        MPI_Group_free(&part);
    }
    MPI_Group_free(&world);
}

/* The same tags on many communicators at once: nothing crosses over. A communicator freed with messages under way lives
 * until they are through. */
static void separation(void)
{
    enum { MANY = 20 };
    MPI_Comm comms[MANY];
    MPI_Request requests[2 * MANY];
    int out[MANY], in[MANY], right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int i = 0; i < MANY; i++)
        MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]);
    for (int i = MANY - 1; i >= 0; i--) {
        out[i] = rank * 100 + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, 0, comms[i], &requests[MANY + i]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, 0, comms[i], &requests[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        CHECK(in[i] == left * 100 + i);
}

static void many(void)
{
    MPI_Comm copy;

    for (int i = 0; i < 20000 / size; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_free(&copy);
    }
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], long_name[300];
    MPI_Comm copy;
    int length;

    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_name(copy, name, &length);
    CHECK(length == 0 && name[0] == '\0');
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    MPI_Comm_set_name(copy, long_name);
    MPI_Comm_get_name(copy, name, &length);
    CHECK(length == MPI_MAX_OBJECT_NAME - 1 && (int)strlen(name) == length);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    random_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 20; i++)
        split();
    compare();
    create_group();
    separation();
    names();
    many();
    MPI_Finalize();
    return 0;
}
