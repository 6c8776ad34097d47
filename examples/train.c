/* Data-parallel training of a small network, as machine learning does it. Every rank has the same weights and its share
 * of each batch of generated images. On the way back through the layers it puts gradients into buckets, and starts a
 * nonblocking allreduce as soon as a bucket is full, so that buckets travel while deeper gradients are still computed.
 *
 * The batch is cut into a fixed number of slices, each of which is summed by itself, whoever has it; the ranks' sums
 * are added in the order of ranks. With MUR_COLL_REPRODUCIBLE=1 and a number of ranks that is a power of two, all
 * additions are those of one rank: --check computes the same on rank 0 alone and compares the losses bit for bit. Run:
 * mpiexec -n 2 train [--steps N] [--batch N] [--check] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

enum { PIXELS = 192, HIDDEN = 96, CLASSES = 10, SLICES = 16, BUCKET = 8192, MOST_BUCKETS = 8 };
enum { FIRST = PIXELS * HIDDEN, SECOND = HIDDEN * HIDDEN, THIRD = HIDDEN * CLASSES, WEIGHTS = FIRST + SECOND + THIRD };

/* Weights and gradients of the layers stand behind each other, the last layer first: the order of the way back. */
static const int start_of[] = {SECOND + THIRD, THIRD, 0};

struct buckets {
    MPI_Comm comm;
    float *gradients; /* summed over the own slices; then over all ranks */
    int sent, count;  /* numbers that are on their way; buckets */
    MPI_Request requests[MOST_BUCKETS];
};

struct sample {
    float pixels[PIXELS], hidden[2][HIDDEN], output[CLASSES];
    int class;
};

static float draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1.0f; /* -1 to 1 */
}

/* An image is the pattern of its class with noise; its number says all of it. */
static void make_sample(struct sample *s, unsigned number)
{
    unsigned noise = number * 2654435761u + 1, pattern;

    s->class = (int)(number % CLASSES);
    pattern = (unsigned)s->class * 40503u + 7;
    for (int i = 0; i < PIXELS; i++)
        s->pixels[i] = draw(&pattern) + 0.8f * draw(&noise);
}

static void forward_layer(const float *weights, const float *in, int inputs, float *out, int outputs, int is_last)
{
    for (int o = 0; o < outputs; o++) {
        float sum = 0;

        for (int i = 0; i < inputs; i++)
            sum += weights[o * inputs + i] * in[i];
        out[o] = is_last || sum > 0 ? sum : 0;
    }
}

/* Returns the loss; s->output becomes the error of each class. */
static double forward(struct sample *s, const float *weights)
{
    float top, sum = 0;
    double loss;

    forward_layer(weights + start_of[0], s->pixels, PIXELS, s->hidden[0], HIDDEN, 0);
    forward_layer(weights + start_of[1], s->hidden[0], HIDDEN, s->hidden[1], HIDDEN, 0);
    forward_layer(weights + start_of[2], s->hidden[1], HIDDEN, s->output, CLASSES, 1);
    top = s->output[0];
    for (int c = 1; c < CLASSES; c++)
        top = s->output[c] > top ? s->output[c] : top;
    for (int c = 0; c < CLASSES; c++)
        sum += s->output[c] = expf(s->output[c] - top);
    loss = -log((double)(s->output[s->class] / sum) + 1e-30);
    for (int c = 0; c < CLASSES; c++)
        s->output[c] = s->output[c] / sum - (c == s->class);
    return loss;
}

/* The gradient of one layer, added to `gradient`; `error` goes in, that of the layer before comes out. */
static void backward_layer(const float *weights, float *gradient, const float *in, int inputs, const float *error,
                           int outputs, float *before)
{
    if (before)
        memset(before, 0, (size_t)inputs * sizeof *before);
    for (int o = 0; o < outputs; o++)
        for (int i = 0; i < inputs; i++) {
            gradient[o * inputs + i] += error[o] * in[i];
            if (before && in[i] > 0)
                before[i] += error[o] * weights[o * inputs + i];
        }
}

/* What is complete up to `end` goes off in buckets. */
static void send_buckets(struct buckets *b, int end)
{
    while (b->comm != MPI_COMM_NULL && (end - b->sent >= BUCKET || (end == WEIGHTS && b->sent < end))) {
        int length = end - b->sent < 2 * BUCKET && end == WEIGHTS ? end - b->sent : BUCKET;

        MPI_Iallreduce(MPI_IN_PLACE, b->gradients + b->sent, length, MPI_FLOAT, MPI_SUM, b->comm,
                       &b->requests[b->count++]);
        b->sent += length;
    }
}

/* Sums of slices are added in pairs, as a tree: that of a rank's slices is a part of that of all. */
static void add_slices(float *sums, int slices, size_t length)
{
    for (int width = 1; width < slices; width *= 2)
        for (int s = 0; s + width < slices; s += 2 * width)
            for (size_t i = 0; i < length; i++)
                sums[(size_t)s * length + i] += sums[(size_t)(s + width) * length + i];
}

static void backward(struct sample *samples, int count, int slices, const float *weights, struct buckets *b,
                     float *sums)
{
    static const int inputs[] = {PIXELS, HIDDEN, HIDDEN}, outputs[] = {HIDDEN, HIDDEN, CLASSES};
    float error[HIDDEN], before[HIDDEN];

    for (int layer = 2; layer >= 0; layer--) {
        size_t length = (size_t)inputs[layer] * (size_t)outputs[layer];

        memset(sums, 0, (size_t)slices * length * sizeof *sums);
        for (int n = 0; n < count; n++) {
            struct sample *s = &samples[n];
            float *own = layer == 2 ? s->output : s->hidden[layer];
            float *in = layer == 0 ? s->pixels : s->hidden[layer - 1];

            memcpy(error, own, (size_t)outputs[layer] * sizeof *error);
            backward_layer(weights + start_of[layer], sums + (size_t)(n / (count / slices)) * length, in, inputs[layer],
                           error, outputs[layer], layer ? before : NULL);
            if (layer)
                memcpy(in, before, sizeof before);
        }
        add_slices(sums, slices, length);
        memcpy(b->gradients + start_of[layer], sums, length * sizeof *sums);
        send_buckets(b, start_of[layer] + (int)length);
    }
}

/* Trains from the same start, and returns the loss of the last step. Ranks of MPI_COMM_NULL are one that has all. */
static double train(MPI_Comm comm, int steps, int batch, float *weights)
{
    int rank = 0, size = 1, share, slices;
    struct buckets b = {.comm = comm, .gradients = malloc(WEIGHTS * sizeof(float))};
    struct sample *samples;
    float *sums = malloc((size_t)SLICES * FIRST * sizeof *sums);
    unsigned seed = 1;
    double loss = 0, losses[SLICES], sum;

    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
    }
    share = batch / size;
    slices = SLICES / size;
    samples = malloc((size_t)share * sizeof *samples);
    if (!samples || !sums || !b.gradients)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < WEIGHTS; i++)
        weights[i] = 0.1f * draw(&seed);

    for (int step = 0; step < steps; step++) {
        memset(losses, 0, sizeof losses);
        for (int n = 0; n < share; n++) {
            make_sample(&samples[n], (unsigned)(step * batch + rank * share + n));
            losses[n / (share / slices)] += forward(&samples[n], weights);
        }
        b.sent = b.count = 0;
        backward(samples, share, slices, weights, &b, sums);
        for (int width = 1; width < slices; width *= 2)
            for (int s = 0; s + width < slices; s += 2 * width)
                losses[s] += losses[s + width];
        sum = losses[0];
        if (comm != MPI_COMM_NULL) {
            MPI_Allreduce(&losses[0], &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
            MPI_Waitall(b.count, b.requests, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < WEIGHTS; i++)
            weights[i] -= 0.2f / (float)batch * b.gradients[i];
        loss = sum / batch;
        if (rank == 0 && comm != MPI_COMM_NULL && (step % 10 == 0 || step == steps - 1))
            printf("step %d: loss %.9f\n", step, loss);
    }
    free(samples);
    free(sums);
    free(b.gradients);
    return loss;
}

int main(int argc, char **argv)
{
    static float weights[WEIGHTS];
    int steps = 30, batch = 512, check = 0, rank, size, failed = 0;
    double start, loss, seconds, alone, total, own;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--check") == 0)
            check = 1;
        else if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc)
            steps = atoi(argv[++i]);
        else if (strcmp(argv[i], "--batch") == 0 && i + 1 < argc)
            batch = atoi(argv[++i]);
    if (size > SLICES || SLICES % size || batch < SLICES || batch % SLICES || steps < 1) {
        if (rank == 0)
            fprintf(stderr, "train: %d ranks must divide %d, which must divide the batch of %d\n", size, SLICES, batch);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    loss = train(MPI_COMM_WORLD, steps, batch, weights);
    seconds = MPI_Wtime() - start;
    own = (double)steps * batch / size / seconds;
    printf("rank %d: images/sec: %.1f\n", rank, own);
    fflush(stdout);
    MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("final loss: %.17g\ntotal images/sec: %.1f\n", loss, total);
        if (check) {
            alone = train(MPI_COMM_NULL, steps, batch, weights);
            failed = memcmp(&alone, &loss, sizeof loss) != 0;
            printf("one rank's loss: %.17g, %s\n", alone, failed ? "which differs" : "the same");
        }
    }
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
