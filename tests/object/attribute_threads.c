/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads set, get, copy and delete attributes of one datatype at once, with callbacks that give the others time. Every
 * value that was set or copied is deleted once, and none is used after its deletion. The seed is printed;
 * MUR_TEST_SEED repeats one. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "random.h"

enum { THREADS = 4, KEYS = 3, ROUNDS = 500, VALUES = THREADS * ROUNDS * (KEYS + 1) };
enum { UNUSED, LIVE, DELETED };

static atomic_int state[VALUES];
static atomic_int used;
static MPI_Datatype type;
static int keys[KEYS];

static void *new_value(void)
{
    int value = atomic_fetch_add(&used, 1);

    CHECK(value < VALUES);
    atomic_store(&state[value], LIVE);
    return &state[value];
}

static int copy(MPI_Datatype old, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)old;
    (void)keyval;
    (void)extra;
    CHECK(atomic_load((atomic_int *)value) == LIVE);
    sched_yield();
    CHECK(atomic_load((atomic_int *)value) == LIVE);
    *(void **)copied = new_value();
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Datatype from, int keyval, void *value, void *extra)
{
    int size;

    (void)keyval;
    (void)extra;
    sched_yield();
    CHECK(MPI_Type_size(from, &size) == MPI_SUCCESS);
    CHECK(atomic_exchange((atomic_int *)value, DELETED) == LIVE);
    return MPI_SUCCESS;
}

static void one_round(unsigned choice, int key)
{
    MPI_Datatype duplicate;
    int code, flag, class, own;
    void *value;

    switch (choice % 5) {
    case 0:
    case 1:
        CHECK(MPI_Type_set_attr(type, key, new_value()) == MPI_SUCCESS);
        break;
    case 2:
        CHECK(MPI_Type_get_attr(type, key, &value, &flag) == MPI_SUCCESS);
        break;
    case 3:
        code = MPI_Type_delete_attr(type, key);
        MPI_Error_class(code, &class);
        CHECK(class == MPI_SUCCESS || class == MPI_ERR_KEYVAL); /* another thread was faster */
        break;
    default:
        CHECK(MPI_Type_dup(type, &duplicate) == MPI_SUCCESS && MPI_Type_free(&duplicate) == MPI_SUCCESS);
        MPI_Type_create_keyval(copy, delete_value, &own, NULL); /* the table of keys changes meanwhile */
        MPI_Type_free_keyval(&own);
    }
}

static void *run(void *argument)
{
    unsigned seed = *(unsigned *)argument;

    for (int i = 0; i < ROUNDS; i++) {
        int key = keys[draw_next(&seed) % KEYS];

        one_round(draw_next(&seed), key);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    random_start();
    MPI_Type_contiguous(2, MPI_INT, &type);
    for (int i = 0; i < KEYS; i++)
        MPI_Type_create_keyval(copy, delete_value, &keys[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = random_next();
        pthread_create(&threads[i], NULL, run, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(MPI_Type_free(&type) == MPI_SUCCESS);
    for (int i = 0; i < used; i++)
        CHECK(state[i] == DELETED);
    for (int i = 0; i < KEYS; i++)
        MPI_Type_free_keyval(&keys[i]);
    MPI_Finalize();
    return 0;
}
