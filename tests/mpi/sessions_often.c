/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions by the thousand, one after the other and in several threads at once, with everything finalised in between
 * or another session kept: nothing grows. */
#include <pthread.h>

#include "descriptors.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 250, WARM = 50 };

/* Pages of private memory in use. */
static long count_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size, resident = 0, shared = 0;

    CHECK(file && fscanf(file, "%ld %ld %ld", &size, &resident, &shared) == 3);
    fclose(file);
    return resident - shared;
}

static void one_session(const char *tag)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    char name[MPI_MAX_PSET_NAME_LEN];
    int count, length = sizeof name, size, one = 1, sum = 0;

    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count >= 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_free(&info);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size);
    MPI_Comm_free(&comm);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
}

/* Pages that may come in any case; the address sanitizer keeps what is freed. */
#ifdef __SANITIZE_ADDRESS__
enum { MORE = 1 << 20 };
#else
enum { MORE = 64 };
#endif

static void *work(void *argument)
{
    for (int round = 0; round < ROUNDS; round++)
        one_session(argument);
    return NULL;
}

static void many_threads(void)
{
    static const char *const tags[THREADS] = {"first", "second", "third", "fourth"};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(unsigned long)tags[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    MPI_Session kept;
    MPI_Info info;
    int descriptors = 0;
    long pages = 0;

    for (int round = 0; round < 3 * ROUNDS; round++) {
        if (round == WARM) {
            descriptors = count_descriptors();
            pages = count_pages();
        }
        one_session("alone");
    }
    CHECK(count_descriptors() <= descriptors);
    CHECK(count_pages() <= pages + MORE);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &kept) == MPI_SUCCESS);
    MPI_Info_free(&info);
    many_threads();
    descriptors = count_descriptors();
    pages = count_pages();
    many_threads();
    CHECK(count_descriptors() <= descriptors);
    CHECK(count_pages() <= pages + MORE);
    MPI_Session_finalize(&kept);
    return 0;
}
