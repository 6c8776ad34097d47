/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's lock: when it begins to be used while a thread is inside without it, nobody else comes in before that
 * thread has left, or breathes. And what makes a thread look that sleeps while the others are outside of MPI: a task, a
 * silent operation, a timer, a send without room; and that a call reaches it though others poll. */
#include "engine/lock.h"

#include <stdatomic.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "engine/engine.h"
#include "node/node.h"

#include "test.h"

enum { BEFORE, INSIDE, LEAVING, STEPS = 20 };

/* ---- beginning to use the lock ---- */

static atomic_int state, is_second_inside;
static bool breathes, came_too_early;

static void *first(void *unused)
{
    (void)unused;
    mur_engine_lock();
    atomic_store(&state, INSIDE);
    while (atomic_load(&state) == INSIDE)
        continue;
    came_too_early = atomic_load(&is_second_inside);
    if (breathes)
        while (!atomic_load(&is_second_inside))
            mur_engine_breathe();
    mur_engine_unlock();
    return NULL;
}

static void *second(void *unused)
{
    (void)unused;
    mur_engine_share();
    mur_engine_lock();
    atomic_store(&is_second_inside, true);
    mur_engine_unlock();
    return NULL;
}

/* The second thread has all the time it needs to come in where it must not. */
static void begin_to_share(void)
{
    pthread_t threads[2];

    mur_lock.is_used = false;
    atomic_store(&state, BEFORE);
    atomic_store(&is_second_inside, false);
    CHECK(pthread_create(&threads[0], NULL, first, NULL) == 0);
    while (atomic_load(&state) != INSIDE)
        continue;
    CHECK(pthread_create(&threads[1], NULL, second, NULL) == 0);
    while (!mur_lock_is_used())
        continue;
    usleep(2000);
    atomic_store(&state, LEAVING);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(!came_too_early && atomic_load(&is_second_inside));
}

/* ---- calling the sleeper ---- */

/* Until the thread that makes progress sleeps, and has nothing to wake for. */
static void await_sleep(void)
{
    for (bool is_asleep = false; !is_asleep; usleep(100)) {
        mur_engine_lock();
        is_asleep = mur_lock.has_sleeper && !mur_lock.is_sleeper_called && mur_lock.sleeps_until == UINT64_MAX;
        mur_engine_unlock();
    }
}

static uint64_t count_passes(void)
{
    uint64_t passes;

    mur_engine_lock();
    passes = mur_counters.passes;
    mur_engine_unlock();
    return passes;
}

/* A sleeper that nobody has called never makes a pass. */
static void await_passes(uint64_t passes)
{
    while (count_passes() < passes)
        usleep(100);
}

static atomic_bool has_run;

static bool run(struct mur_task *task, bool *is_over)
{
    (void)task;
    has_run = *is_over = true;
    return true;
}

static void new_task(void)
{
    struct mur_task task = {.run = run};

    await_sleep();
    has_run = false;
    mur_engine_lock();
    mur_engine_task_add(&task);
    mur_engine_unlock();
    while (!has_run)
        usleep(100);
    mur_engine_lock(); /* nobody looks at the task any more */
    mur_engine_unlock();
}

static void silent_operation(void)
{
    uint64_t before;

    await_sleep();
    before = count_passes();
    mur_engine_lock();
    mur_engine.silent_operations++;
    mur_engine_unlock();
    await_passes(before + 3); /* it looks again and again */
    mur_engine_lock();
    mur_engine.silent_operations--;
    mur_engine_unlock();
}

static void timer(void)
{
    uint64_t before;

    await_sleep();
    before = count_passes();
    mur_engine_lock();
    mur_engine.due = mur_clock_ns() + 1000000;
    mur_engine_unlock();
    await_passes(before + 1);
    mur_engine_lock();
    mur_engine.due = 0;
    mur_engine_unlock();
}

static bool resume(struct mur_backlog_entry *entry)
{
    (void)entry;
    has_run = true;
    return true;
}

static void send_without_room(void)
{
    struct mur_backlog_entry entry = {.resume = resume};

    await_sleep();
    has_run = false;
    mur_engine_lock();
    mur_engine_backlog_add(&mur_engine.peers[0], &entry);
    mur_engine_unlock();
    while (!has_run)
        usleep(100);
}

/* A call that has not reached the sleeper yet stays, whatever a thread polls meanwhile: the sleeper takes it back when
 * it has the lock. */
static void call_stays(void)
{
    struct pollfd call = {.events = POLLIN};
    int is_there;

    await_sleep();
    mur_engine_lock();
    call.fd = mur_node.doorbell;
    mur_engine_notify();
    for (int i = 0; i < 300; i++)
        mur_progress();
    is_there = poll(&call, 1, 0);
    mur_engine_unlock();
    CHECK(is_there == 1);
    await_sleep();
    mur_engine_lock();
    is_there = poll(&call, 1, 0);
    mur_engine_unlock();
    CHECK(is_there == 0);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];

    mur_engine_lock_setup(true);
    for (int i = 0; i < STEPS; i++) {
        breathes = i % 2;
        begin_to_share();
    }
    setenv("MUR_PROGRESS_THREAD", "1", 1);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < STEPS; i++) { /* first asleep in the node's transport, then in the network's */
        if (i == STEPS / 2)
            MPI_Open_port(MPI_INFO_NULL, port);
        if (i >= STEPS / 2)
            call_stays();
        new_task();
        silent_operation();
        timer();
        send_without_room();
    }
    MPI_Finalize();
    return 0;
}
