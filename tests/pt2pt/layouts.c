/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between any two layouts: blocks at one stride, blocks of any size anywhere, forwards and backwards in
 * memory, or one run, at sizes around every limit, several under way at once, into receives that may have more room
 * than the message needs. The reference copies byte by byte from a list of blocks. */
#include "random.h"

enum { ROUNDS = 150, MESSAGES = 4, LARGEST = 600000, BLOCKS = 4000, GUARD = 0xA5 };

/* What fits into a slot, parts of a frame, the eager limit, pieces of a large message. */
static const int edges[] = {40, 2048, 4096, 8192, 32768, 65536, 131072, 262144};

/* Where the bytes of a message lie in a buffer. */
struct place {
    int blocks, extent;
    MPI_Aint offset[BLOCKS + 1];
    int length[BLOCKS + 1];
};

struct message {
    int bytes, room, is_late;
    struct place from, to; /* of what the left neighbour sends; it draws the same numbers */
    unsigned char *out, *in;
    MPI_Datatype out_type, in_type;
};

static struct message messages[MESSAGES];
static int rank, size;

static int any_bytes(void)
{
    int bytes = random_below(2) ? edges[random_below(sizeof edges / sizeof *edges)] + random_below(3) - 1
                                : random_below(random_below(4) ? 20000 : LARGEST / 2);

    return bytes < 1 ? 1 : bytes;
}

static void add_block(struct place *place, int gap, int length)
{
    place->offset[place->blocks] = place->extent + gap;
    place->length[place->blocks++] = length;
    place->extent += gap + length;
}

/* Blocks of one size at one stride. The last one may be shorter. */
static void draw_regular(struct place *place, int bytes)
{
    static const int sizes[] = {1, 2, 3, 4, 8, 12, 16, 32, 64, 100, 128, 1024, 5000};
    int block = sizes[random_below(sizeof sizes / sizeof *sizes)], gap = 1 + random_below(2 * block);

    while (bytes / block >= BLOCKS)
        block *= 2;
    for (int done = 0; done < bytes; done += block)
        add_block(place, gap, bytes - done < block ? bytes - done : block);
}

static void draw_irregular(struct place *place, int bytes)
{
    int mean = 1 + bytes / (1 + random_below(BLOCKS / 2));

    for (int left = bytes; left > 0;) {
        int length = 1 + random_below(2 * mean);

        length = place->blocks == BLOCKS - 1 || length > left ? left : length;
        add_block(place, random_below(3) ? random_below(100) : 0, length);
        left -= length;
    }
}

static void reverse(struct place *place)
{
    for (int i = 0, k = place->blocks - 1; i < k; i++, k--) {
        MPI_Aint offset = place->offset[i];
        int length = place->length[i];

        place->offset[i] = place->offset[k];
        place->length[i] = place->length[k];
        place->offset[k] = offset;
        place->length[k] = length;
    }
}

static void draw_place(struct place *place, int bytes)
{
    int style = random_below(5);

    place->blocks = place->extent = 0;
    if (style == 0)
        add_block(place, 0, bytes);
    else if (style < 3)
        draw_regular(place, bytes);
    else
        draw_irregular(place, bytes);
    if (style == 2 || style == 4)
        reverse(place);
}

static MPI_Datatype type_of(const struct place *place)
{
    MPI_Datatype type;

    MPI_Type_create_hindexed(place->blocks, place->length, place->offset, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static unsigned char byte_of(int source, int message, int i)
{
    return (unsigned char)(source * 41 + message * 13 + i + (i >> 8) * 3 + (i >> 16) * 7);
}

/* The first `bytes` bytes of the layout, one by one. */
static void fill(const struct place *place, int bytes, unsigned char *buffer, int source, int message)
{
    int i = 0;

    for (int block = 0; block < place->blocks; block++)
        for (int k = 0; k < place->length[block] && i < bytes; k++, i++)
            buffer[place->offset[block] + k] = byte_of(source, message, i);
}

static void draw(struct message *message, int number)
{
    message->bytes = any_bytes();
    message->room = message->bytes + (random_below(3) ? 0 : random_below(1000));
    message->is_late = random_below(2);
    draw_place(&message->from, message->bytes);
    draw_place(&message->to, message->room);
    message->out = malloc((size_t)message->from.extent);
    message->in = malloc((size_t)message->to.extent);
    CHECK(message->out && message->in);
    memset(message->in, GUARD, (size_t)message->to.extent);
    memset(message->out, 0, (size_t)message->from.extent);
    fill(&message->from, message->bytes, message->out, rank, number);
    message->out_type = type_of(&message->from);
    message->in_type = type_of(&message->to);
}

static void check(struct message *message, int number, const MPI_Status *status)
{
    unsigned char *expected = malloc((size_t)message->to.extent);
    int got;

    CHECK(expected);
    memset(expected, GUARD, (size_t)message->to.extent);
    fill(&message->to, message->bytes, expected, (rank + size - 1) % size, number);
    CHECK(memcmp(message->in, expected, (size_t)message->to.extent) == 0);
    MPI_Get_count(status, MPI_BYTE, &got);
    CHECK(got == message->bytes);
    free(expected);
    free(message->out);
    free(message->in);
    MPI_Type_free(&message->out_type);
    MPI_Type_free(&message->in_type);
}

static void receive(struct message *message, int number, MPI_Request *request)
{
    MPI_Irecv(message->in, 1, message->in_type, (rank + size - 1) % size, number, MPI_COMM_WORLD, request);
}

static void round_of_messages(int count)
{
    MPI_Request sends[MESSAGES], receives[MESSAGES];
    MPI_Status statuses[MESSAGES];

    for (int i = 0; i < count; i++)
        draw(&messages[i], i);
    for (int i = 0; i < count; i++)
        if (!messages[i].is_late)
            receive(&messages[i], i, &receives[i]);
    for (int i = 0; i < count; i++)
        MPI_Isend(messages[i].out, 1, messages[i].out_type, (rank + 1) % size, i, MPI_COMM_WORLD, &sends[i]);
    for (int i = count - 1; i >= 0; i--)
        if (messages[i].is_late)
            receive(&messages[i], i, &receives[i]);
    MPI_Waitall(count, receives, statuses);
    MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        check(&messages[i], i, &statuses[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_start();
    for (int i = 0; i < ROUNDS; i++)
        round_of_messages(1 + random_below(MESSAGES));
    MPI_Finalize();
    return 0;
}
