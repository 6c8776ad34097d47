/* SPDX-License-Identifier: BSD-3-Clause */
/* Building and executing schedules. */
#include "coll/schedule/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "boot/process.h"
#include "datatype/layout.h"
#include "object/context.h"
#include "object/look.h"
#include "pt2pt/pt2pt.h"

/* Blocking, nonblocking and persistent collectives number their messages in ranges of their own. A tag comes again long
 * after its last use, but a persistent operation keeps the one it has. */
enum { TAGS = 1 << 28, NONBLOCKING_TAG = TAGS, PERSISTENT_TAG = 2 * TAGS };

struct mur_schedule *mur_schedule_create(struct mur_comm *comm)
{
    struct mur_schedule *schedule = mur_schedule_create_apart(comm);

    if (schedule)
        schedule->tag = (int)(comm->sequence++ % TAGS);
    return schedule;
}

struct mur_schedule *mur_schedule_create_strict(struct mur_comm *comm)
{
    struct mur_schedule *schedule = mur_schedule_create(comm);

    if (schedule)
        schedule->is_strict = true;
    return schedule;
}

struct mur_schedule *mur_schedule_create_nonblocking(struct mur_comm *comm)
{
    struct mur_schedule *schedule = mur_schedule_create_apart(comm);

    if (!schedule)
        return NULL;
    schedule->tag = NONBLOCKING_TAG | (int)(comm->nonblocking_sequence++ % TAGS);
    schedule->is_strict = true;
    return schedule;
}

struct mur_schedule *mur_schedule_create_apart(struct mur_comm *comm)
{
    struct mur_schedule *schedule = malloc(sizeof *schedule);

    if (!schedule)
        return NULL;
    schedule->task.link = NULL;
    schedule->owner = comm;
    mur_comm_retain(comm);
    schedule->request = NULL;
    schedule->is_kept = schedule->is_strict = schedule->has_ahead = false;
    mur_schedule_move(schedule, comm, comm->context + MUR_CONTEXT_COLLECTIVE, 0);
    schedule->error = schedule->flaw = MPI_SUCCESS;
    schedule->visit = NULL;
    schedule->count = schedule->round = schedule->next = 0;
    schedule->capacity = MUR_STEPS_INLINE;
    schedule->steps = schedule->inline_steps;
    schedule->buffer_count = 0;
    schedule->buffer_capacity = MUR_BUFFERS_INLINE;
    schedule->buffers = schedule->inline_buffers;
    return schedule;
}

/* Large buffers are kept for the next schedule: memory fresh from the system costs a page fault for every 4 KiB, more
 * than what is done with it. */
enum { KEPT = 8, KEPT_LEAST = 128 << 10, KEPT_MOST = 8 << 20 };
static struct {
    void *memory;
    size_t bytes;
} kept_buffers[KEPT];

/* One that is large enough, and not twice too large; or a new one. */
static struct mur_schedule_buffer take_buffer(size_t bytes)
{
    for (int i = 0; i < KEPT && bytes >= KEPT_LEAST; i++)
        if (kept_buffers[i].memory && kept_buffers[i].bytes >= bytes && kept_buffers[i].bytes / 2 <= bytes) {
            struct mur_schedule_buffer taken = {kept_buffers[i].memory, kept_buffers[i].bytes};

            kept_buffers[i].memory = NULL;
            return taken;
        }
    return (struct mur_schedule_buffer){malloc(bytes ? bytes : 1), bytes};
}

/* In turns each place is taken over by the next buffer, so that what nobody asks for again does not stay. */
static void give_buffer(struct mur_schedule_buffer buffer)
{
    static int turn;

    if (buffer.bytes >= KEPT_LEAST && buffer.bytes <= KEPT_MOST) {
        void *replaced = kept_buffers[turn].memory;

        kept_buffers[turn].memory = buffer.memory;
        kept_buffers[turn].bytes = buffer.bytes;
        buffer.memory = replaced;
        turn = (turn + 1) % KEPT;
    }
    free(buffer.memory);
}

static void schedule_free(struct mur_schedule *schedule)
{
    for (int i = 0; i < schedule->count; i++) {
        struct mur_step *step = &schedule->steps[i];

        if (step->in_type)
            mur_type_release(step->in_type);
        if (step->out_type)
            mur_type_release(step->out_type);
        if (step->op)
            mur_op_release(step->op);
    }
    for (int i = 0; i < schedule->buffer_count; i++)
        give_buffer(schedule->buffers[i]);
    if (schedule->buffers != schedule->inline_buffers)
        free(schedule->buffers);
    if (schedule->steps != schedule->inline_steps)
        free(schedule->steps);
    mur_comm_release(schedule->owner);
    free(schedule);
}

void mur_schedule_drop(struct mur_schedule *schedule)
{
    schedule_free(schedule);
}

/* Twice the room for an array that starts inline. False: no memory. */
static bool grow(void **array, void *inline_array, int *capacity, size_t bytes)
{
    void *larger = realloc(*array == inline_array ? NULL : *array, (size_t)*capacity * 2 * bytes);

    if (!larger)
        return false;
    if (*array == inline_array)
        memcpy(larger, inline_array, (size_t)*capacity * bytes);
    *array = larger;
    *capacity *= 2;
    return true;
}

void mur_schedule_fail(struct mur_schedule *schedule, int code)
{
    if (code && !schedule->error)
        schedule->error = code;
}

void mur_schedule_mar(struct mur_schedule *schedule, int code)
{
    if (code && !schedule->flaw)
        schedule->flaw = code;
}

static int no_memory(void)
{
    return mur_error(MPI_ERR_NO_MEM, "no memory for a collective operation");
}

int mur_collective_result(int rc, int ranks)
{
    char text[512];

    if (__builtin_expect(!rc, 1) || ranks == 1 || mur_error_class(rc) != MPI_ERR_NO_MEM)
        return rc;
    snprintf(text, sizeof text,
             "Murmur: error on rank %d of %d (host %s): %s; the other ranks would wait for this one, so the job ends "
             "[MPI_ERR_NO_MEM]",
             mur_process.rank, mur_process.size, mur_process.host, mur_error_text(rc));
    mur_boot_abort(1, text);
}

int mur_collective_no_memory(const struct mur_comm *comm)
{
    return mur_collective_result(no_memory(), mur_comm_ranks(comm));
}

void mur_schedule_no_memory(struct mur_schedule *schedule)
{
    if (!schedule->error)
        mur_schedule_fail(schedule, schedule->is_strict ? mur_collective_no_memory(schedule->owner) : no_memory());
}

static void add(struct mur_schedule *schedule, struct mur_step step)
{
    if (__builtin_expect(schedule->visit != NULL, 0)) {
        schedule->visit(&step);
        return;
    }
    if (schedule->count == schedule->capacity &&
        !grow((void **)&schedule->steps, schedule->inline_steps, &schedule->capacity, sizeof step)) {
        mur_schedule_no_memory(schedule);
        return;
    }
    if (step.in_type)
        mur_type_retain(step.in_type);
    if (step.out_type)
        mur_type_retain(step.out_type);
    if (step.op)
        mur_op_retain(step.op);
    step.comm = schedule->carrier;
    if (schedule->ranks && (step.kind == MUR_STEP_SEND || step.kind == MUR_STEP_RECEIVE))
        step.rank = schedule->ranks[step.rank];
    step.context = schedule->context;
    step.tag = schedule->tag;
    schedule->steps[schedule->count++] = step;
}

void mur_schedule_send(struct mur_schedule *schedule, const void *buffer, MPI_Count count, struct mur_type *type,
                       int rank)
{
    add(schedule,
        (struct mur_step){.kind = MUR_STEP_SEND, .rank = rank, .in = buffer, .in_count = count, .in_type = type});
}

void mur_schedule_receive(struct mur_schedule *schedule, void *buffer, MPI_Count count, struct mur_type *type, int rank)
{
    add(schedule,
        (struct mur_step){.kind = MUR_STEP_RECEIVE, .rank = rank, .out = buffer, .out_count = count, .out_type = type});
}

void mur_schedule_send_late(struct mur_schedule *schedule, const struct mur_late *late, struct mur_type *type, int rank)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_SEND, .rank = rank, .in_type = type, .late = late});
}

void mur_schedule_receive_late(struct mur_schedule *schedule, const struct mur_late *late, struct mur_type *type,
                               int rank)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_RECEIVE, .rank = rank, .out_type = type, .late = late});
}

void mur_schedule_receive_up_to(struct mur_schedule *schedule, void *buffer, MPI_Count bytes, int rank)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_RECEIVE,
                                    .rank = rank,
                                    .out = buffer,
                                    .out_count = bytes,
                                    .out_type = mur_type_find(MPI_BYTE),
                                    .is_up_to = true});
}

void mur_schedule_copy(struct mur_schedule *schedule, const void *in, MPI_Count in_count, struct mur_type *in_type,
                       void *out, MPI_Count out_count, struct mur_type *out_type)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_COPY,
                                    .in = in,
                                    .in_count = in_count,
                                    .in_type = in_type,
                                    .out = out,
                                    .out_count = out_count,
                                    .out_type = out_type});
}

void mur_schedule_reduce(struct mur_schedule *schedule, struct mur_op *op, const void *in, void *inout, MPI_Count count,
                         struct mur_type *type)
{
    add(schedule, (struct mur_step){
                      .kind = MUR_STEP_REDUCE, .op = op, .in = in, .out = inout, .out_count = count, .out_type = type});
}

/* Marks the step that was added last. Of one that is not there, since there was no memory or it was only counted,
 * nobody asks any more. */
static int set_ahead(struct mur_schedule *schedule)
{
    if (schedule->error || schedule->visit)
        return 0;
    schedule->steps[schedule->count - 1].is_ahead = schedule->has_ahead = true;
    return schedule->count - 1;
}

int mur_schedule_send_ahead(struct mur_schedule *schedule, const void *buffer, MPI_Count count, struct mur_type *type,
                            int rank)
{
    mur_schedule_send(schedule, buffer, count, type, rank);
    return set_ahead(schedule);
}

int mur_schedule_receive_ahead(struct mur_schedule *schedule, void *buffer, MPI_Count count, struct mur_type *type,
                               int rank)
{
    mur_schedule_receive(schedule, buffer, count, type, rank);
    return set_ahead(schedule);
}

void mur_schedule_await(struct mur_schedule *schedule, int ahead)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_AWAIT, .awaited = ahead});
}

void mur_schedule_tolerate(struct mur_schedule *schedule, int *outcome)
{
    if (!schedule->error && !schedule->visit)
        schedule->steps[schedule->count - 1].outcome = outcome;
}

void mur_schedule_fence(struct mur_schedule *schedule)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_FENCE});
}

void mur_schedule_hold(struct mur_schedule *schedule, struct mur_type *type)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_HOLD, .in_type = type});
}

void mur_schedule_call(struct mur_schedule *schedule, mur_step_function *call, void *argument)
{
    add(schedule, (struct mur_step){.kind = MUR_STEP_CALL, .call = call, .out = argument});
}

void mur_schedule_move(struct mur_schedule *schedule, struct mur_comm *comm, uint32_t context, int tag)
{
    schedule->comm = schedule->carrier = comm;
    schedule->ranks = NULL;
    schedule->context = context;
    schedule->tag = tag;
}

/* The numbers of an intercommunicator's collectives are the tags on both: its local communicator has no other use. */
void mur_schedule_move_to_local(struct mur_schedule *schedule)
{
    struct mur_comm *local = schedule->owner->local;

    mur_schedule_move(schedule, local, local->context + MUR_CONTEXT_COLLECTIVE, schedule->tag);
}

void mur_schedule_move_back(struct mur_schedule *schedule)
{
    struct mur_comm *owner = schedule->owner;

    mur_schedule_move(schedule, owner, owner->context + MUR_CONTEXT_COLLECTIVE, schedule->tag);
}

void *mur_schedule_memory(struct mur_schedule *schedule, size_t bytes)
{
    struct mur_schedule_buffer buffer;

    if (schedule->buffer_count == schedule->buffer_capacity &&
        !grow((void **)&schedule->buffers, schedule->inline_buffers, &schedule->buffer_capacity, sizeof buffer)) {
        mur_schedule_no_memory(schedule);
        return NULL;
    }
    buffer = take_buffer(bytes);
    if (!buffer.memory) {
        mur_schedule_no_memory(schedule);
        return NULL;
    }
    schedule->buffers[schedule->buffer_count++] = buffer;
    return buffer.memory;
}

void *mur_schedule_elements(struct mur_schedule *schedule, MPI_Count count, const struct mur_type *type)
{
    MPI_Count steps = count > 0 ? count - 1 : 0;
    MPI_Count low = type->extent < 0 ? steps * type->extent : 0;
    MPI_Count reach = type->extent < 0 ? -low : steps * type->extent;
    char *memory = mur_schedule_memory(schedule, (size_t)(reach + type->true_extent));

    return memory ? memory - type->true_lb - low : NULL;
}

static void start_step(struct mur_schedule *schedule, struct mur_step *step)
{
    int rc = MPI_SUCCESS;

    if (step->late && step->late->count == MUR_LATE_NONE)
        return;
    if (step->late) {
        step->in = step->out = step->late->at;
        step->in_count = step->out_count = step->late->count;
    }
    switch (step->kind) {
    case MUR_STEP_FENCE:
    case MUR_STEP_AWAIT:
    case MUR_STEP_HOLD:
        break;
    case MUR_STEP_SEND:
        rc = mur_isend(step->in, step->in_count, step->in_type, step->rank, step->tag, step->comm, step->context,
                       MUR_STANDARD, &step->request);
        break;
    case MUR_STEP_RECEIVE:
        rc = mur_irecv(step->out, step->out_count, step->out_type, step->rank, step->tag, step->comm, step->context,
                       &step->request);
        break;
    case MUR_STEP_COPY:
        mur_layout_copy_typed(step->in, step->in_count, step->in_type, step->out, step->out_count, step->out_type);
        break;
    case MUR_STEP_REDUCE:
        mur_op_apply(step->op, step->in, step->out, step->out_count, step->out_type);
        break;
    case MUR_STEP_CALL: /* may move the steps: `step` is not valid after it */
        rc = step->call(schedule, step->out);
        mur_schedule_fail(schedule,
                          schedule->is_strict ? mur_collective_result(rc, mur_comm_ranks(schedule->owner)) : rc);
        return;
    }
    if (!rc)
        return;
    step->request = NULL;
    if (step->outcome) {
        *step->outcome = rc;
        return;
    }
    if (schedule->is_strict && mur_error_class(rc) == MPI_ERR_NO_MEM)
        mur_collective_no_memory(schedule->owner);
    mur_schedule_fail(schedule, rc);
}

/* What the request of a step has come to. */
static void finish_step(struct mur_schedule *schedule, struct mur_step *step, int rc, const MPI_Status *status)
{
    MPI_Count bytes = mur_status_bytes(status);

    step->request = NULL;
    if (rc && step->outcome) {
        *step->outcome = rc;
        return;
    }
    if (!schedule->is_strict || (rc && mur_error_class(rc) != MPI_ERR_TRUNCATE)) {
        mur_schedule_fail(schedule, rc); /* after the loss of a process the rest would be of no use */
        return;
    }
    if (!rc && step->kind == MUR_STEP_RECEIVE && !step->is_up_to && bytes != step->out_count * step->out_type->size)
        rc = mur_error(MPI_ERR_COUNT,
                       "rank %d sends %lld bytes where this rank expects %lld: their counts or datatypes disagree",
                       status->MPI_SOURCE, (long long)bytes, (long long)(step->out_count * step->out_type->size));
    mur_schedule_mar(schedule, rc);
}

static int result_of(const struct mur_schedule *schedule)
{
    return schedule->error ? schedule->error : schedule->flaw;
}

/* Starts the steps up to the next fence. False: there are no more. */
static bool start_round(struct mur_schedule *schedule)
{
    schedule->round = schedule->next;
    if (schedule->round == schedule->count)
        return false;
    do
        start_step(schedule, &schedule->steps[schedule->next++]);
    while (schedule->next < schedule->count && schedule->steps[schedule->next].kind != MUR_STEP_FENCE);
    return true;
}

/* The step whose message the round waits for on account of step i; NULL: none. */
static struct mur_step *pending_step(const struct mur_schedule *schedule, int i)
{
    struct mur_step *step = &schedule->steps[i];

    if (step->is_ahead)
        return NULL;
    if (step->kind == MUR_STEP_AWAIT)
        step = &schedule->steps[step->awaited];
    return step->request ? step : NULL;
}

/* The round under way, and whose messages it lacks. */
static void describe_schedule(const void *what)
{
    const struct mur_schedule *schedule = what;
    struct mur_look_wait *wait = mur_look_add_comm(MUR_WAIT_COLLECTIVE, schedule->owner);

    if (!schedule->request) /* a blocking one: of the user's they are counted for tools, else all are by their tags */
        wait->number = schedule->is_strict ? schedule->owner->collectives : (uint64_t)schedule->tag + 1;
    wait->round = 0;
    for (int i = 0; i < schedule->round; i++)
        wait->round += schedule->steps[i].kind == MUR_STEP_FENCE;
    for (int i = 0; i < schedule->next; i++) {
        const struct mur_step *step = &schedule->steps[i];

        if (step->request && !step->request->is_complete)
            mur_rest_miss(wait, step->comm->processes[step->rank]);
    }
}

static void wait_for_step(struct mur_schedule *schedule, struct mur_step *step)
{
    MPI_Status status;
    int rc;

    if (!step->request->is_complete)
        mur_wait_for(&step->request->is_complete, describe_schedule, schedule);
    else
        mur_engine_flush();
    rc = mur_request_finish(step->request, &status);
    finish_step(schedule, step, rc, &status);
}

int mur_schedule_run(struct mur_schedule *schedule)
{
    struct mur_step *step;
    int rc;

    if (!schedule)
        return no_memory();
    while (!schedule->error && start_round(schedule))
        for (int i = schedule->round; i < schedule->next; i++)
            if ((step = pending_step(schedule, i)))
                wait_for_step(schedule, step);
    for (int i = 0; schedule->has_ahead && i < schedule->next; i++)
        if (schedule->steps[i].request)
            wait_for_step(schedule, &schedule->steps[i]);
    mur_engine_flush();
    rc = result_of(schedule);
    schedule_free(schedule);
    return rc;
}

/* False: it is not complete yet. */
static bool try_step(struct mur_schedule *schedule, struct mur_step *step)
{
    MPI_Status status;

    if (!step->request->is_complete)
        return false;
    finish_step(schedule, step, mur_request_finish(step->request, &status), &status);
    return true;
}

/* Finishes what is complete of the round; true when all of it is. */
static bool finish_round(struct mur_schedule *schedule)
{
    struct mur_step *step;

    for (int i = schedule->round; i < schedule->next; i++)
        if ((step = pending_step(schedule, i)) && !try_step(schedule, step))
            return false;
    return true;
}

/* The same for operations started ahead, when there are no more rounds. */
static bool finish_ahead(struct mur_schedule *schedule)
{
    for (int i = 0; schedule->has_ahead && i < schedule->next; i++)
        if (schedule->steps[i].request && !try_step(schedule, &schedule->steps[i]))
            return false;
    return true;
}

static void conclude(struct mur_schedule *schedule)
{
    struct mur_request *request = schedule->request;

    request->result.error = result_of(schedule);
    if (!schedule->is_kept)
        schedule_free(schedule);
    mur_request_complete(request);
}

static bool schedule_progress(struct mur_task *task, bool *is_over)
{
    struct mur_schedule *schedule = (struct mur_schedule *)task; /* its first member */
    bool moved = false;

    while (finish_round(schedule)) {
        if (schedule->error || !start_round(schedule)) {
            if (!finish_ahead(schedule))
                return moved;
            conclude(schedule);
            *is_over = true;
            return true;
        }
        moved = true;
    }
    return moved;
}

/* The one behind a request that waits in the engine; false: there is none. */
bool mur_schedule_describe(const struct mur_request *request)
{
    for (const struct mur_task *task = mur_engine.tasks; task; task = task->next)
        if (task->run == schedule_progress && ((const struct mur_schedule *)(const void *)task)->request == request) {
            describe_schedule(task);
            return true;
        }
    return false;
}

/* Goes as far as it can at once, and leaves the rest to progress. */
static void launch(struct mur_schedule *schedule)
{
    bool is_over = false;

    schedule_progress(&schedule->task, &is_over);
    if (!is_over)
        mur_engine_task_add(&schedule->task);
}

/* There is no request for it: it was not built, or there is no memory. */
static int start_in_vain(struct mur_schedule *schedule)
{
    int rc;

    if (!schedule->error)
        mur_schedule_no_memory(schedule);
    rc = schedule->error;
    schedule_free(schedule);
    return rc;
}

int mur_schedule_start(struct mur_schedule *schedule, MPI_Request *request)
{
    struct mur_request *started;

    if (!schedule)
        return no_memory();
    started = schedule->error ? NULL : mur_request_create(MUR_COLLECTIVE, schedule->owner, NULL);
    if (!started)
        return start_in_vain(schedule);
    started->result = (struct mur_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    schedule->request = started;
    schedule->task.run = schedule_progress;
    *request = (MPI_Request)started;
    launch(schedule);
    return MPI_SUCCESS;
}

/* What hangs on a persistent collective's request. */
struct kept {
    struct mur_schedule *schedule; /* owned */
};

static int start_kept(struct mur_request *request)
{
    const struct kept *kept = request->extra;
    struct mur_schedule *schedule = kept->schedule;

    schedule->error = schedule->flaw = MPI_SUCCESS;
    schedule->round = schedule->next = 0;
    launch(schedule);
    return MPI_SUCCESS;
}

static void free_kept(struct mur_request *request)
{
    const struct kept *kept = request->extra;

    if (kept->schedule)
        schedule_free(kept->schedule);
}

static const struct mur_request_kind persistent = {
    .name = "a persistent collective operation", .start = start_kept, .destroy = free_kept, .is_collective = true};

int mur_schedule_keep(struct mur_schedule *schedule, MPI_Request *request)
{
    struct mur_request *made;
    struct kept *kept;

    if (!schedule)
        return no_memory();
    made =
        schedule->error ? NULL : mur_request_create_composite(&persistent, schedule->owner, NULL, sizeof *kept, true);
    if (!made)
        return start_in_vain(schedule);
    kept = made->extra;
    kept->schedule = schedule;
    schedule->tag = PERSISTENT_TAG | (int)(schedule->owner->persistent_sequence++ % TAGS);
    for (int i = 0; i < schedule->count; i++)
        schedule->steps[i].tag = schedule->tag;
    schedule->is_kept = true;
    schedule->request = made;
    schedule->task.run = schedule_progress;
    *request = (MPI_Request)made;
    return MPI_SUCCESS;
}
