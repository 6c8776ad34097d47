/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of settings. To add one: a field in struct mur_settings and a row here; everything that prints or reads
 * settings works from the table. */
#include "base/settings.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seal.h"

#define SETTING(field) offsetof(struct mur_settings, field)

struct mur_settings mur_settings;

/* Words that may stand for the numbers of a setting. */
static const struct {
    size_t offset;
    const char *word;
    long value;
} words[] = {
    {SETTING(check), "forgiving", MUR_FORGIVING},     {SETTING(check), "strict", MUR_STRICT},
    {SETTING(tcp_seal), "none", MUR_SEAL_NONE},       {SETTING(tcp_seal), "authenticate", MUR_SEAL_AUTHENTICATE},
    {SETTING(tcp_seal), "encrypt", MUR_SEAL_ENCRYPT},
};

const struct mur_setting mur_setting_table[] = {
    {"MUR_SHM_SINGLE_COPY", "shm", "-1, 0 or 1", -1, -1, 1, SETTING(shm_single_copy), MUR_BEFORE_START, true,
     "copy large messages straight between the processes' memories (process_vm_readv); 0 copies through shared memory; "
     "-1 chooses by processor"},
    {"MUR_SHM_EAGER_MAX", "shm", "bytes", -1, -1, 1048576, SETTING(shm_eager_max), MUR_ANY_TIME, false,
     "messages up to this size are sent at once, larger ones when the receiver is ready; -1 chooses by processor"},
    {"MUR_SHM_COPY_CHUNK", "shm", "bytes", 0, 0, LONG_MAX, SETTING(shm_copy_chunk), MUR_ANY_TIME, false,
     "piece of a large message that sender or receiver copies at a time; 0 chooses by what is left"},
    {"MUR_SHM_LANE_SLOTS", "shm", "records", 0, 0, 65536, SETTING(shm_lane_slots), MUR_BEFORE_START, true,
     "records that fit into the ring between two ranks, a power of two; 0 chooses by the number of ranks"},
    {"MUR_SHM_LANE_BYTES", "shm", "bytes", 0, 0, 1L << 30, SETTING(shm_lane_bytes), MUR_BEFORE_START, true,
     "payload that fits into the ring between two ranks, a power of two; 0 chooses by the number of ranks"},
    {"MUR_TCP_EAGER_MAX", "tcp", "bytes", 65536, 0, 262144, SETTING(tcp_eager_max), MUR_ANY_TIME, false,
     "messages up to this size are sent at once over the network, larger ones when the receiver is ready"},
    {"MUR_TCP_BUFFER", "tcp", "bytes", 0, 0, 1L << 30, SETTING(tcp_buffer), MUR_ANY_TIME, false,
     "of the system's for each connection and direction; 0 lets the system choose"},
    {"MUR_TCP_TIMEOUT", "tcp", "seconds", 30, 1, 1000000, SETTING(tcp_timeout), MUR_ANY_TIME, false,
     "how long a peer may stay out of reach before the job is ended"},
    {"MUR_TCP_SEAL", "tcp", "-1, none (0), authenticate (1) or encrypt (2)", -1, -1, 2, SETTING(tcp_seal),
     MUR_BEFORE_START, true,
     "what protects messages on the network; -1: encrypt between hosts, none where connections stay on one host"},
    {"MUR_SPAWN_TIMEOUT", "process", "seconds", 300, 1, 1000000, SETTING(spawn_timeout), MUR_ANY_TIME, false,
     "how long processes that another's launcher spawns may take until they are in MPI_Init"},
    {"MUR_CONNECT_TIMEOUT", "process", "seconds", 300, 1, 1000000, SETTING(connect_timeout), MUR_ANY_TIME, false,
     "how long MPI_Comm_connect waits at a port for somebody to accept it; its info key timeout goes before this"},
    {"MUR_UNEXPECTED_MAX", "pt2pt", "bytes", 0, 0, LONG_MAX, SETTING(unexpected_max), MUR_ANY_TIME, false,
     "kept of each sender's messages that no receive was posted for, before it must wait; 0 chooses by ranks"},
    {"MUR_WAIT_SPIN", "engine", "microseconds", -1, -1, 1000000000, SETTING(wait_spin), MUR_ANY_TIME, false,
     "how long a waiting rank spins before it yields its core; -1 chooses by cores and ranks"},
    {"MUR_WAIT_YIELD", "engine", "microseconds", -1, -1, 1000000000, SETTING(wait_yield), MUR_ANY_TIME, false,
     "how long a waiting rank yields its core before it sleeps; -1 chooses by cores and ranks"},
    {"MUR_COLL_BOARD", "coll", "0 or 1", 1, 0, 1, SETTING(coll_board), MUR_ANY_TIME, true,
     "collectives of ranks on one node go through memory that they share; 0 uses messages for everything"},
    {"MUR_COLL_FLAT", "coll", "ranks", 8, 1, INT_MAX, SETTING(coll_flat), MUR_ANY_TIME, true,
     "up to which each rank of a node looks at what all others have; more tell each other along a tree"},
    {"MUR_COLL_VERBOSE", "coll", "0 or 1", 0, 0, 1, SETTING(coll_verbose), MUR_ANY_TIME, false,
     "rank 0 tells what performs each kind of collective (MUR_COLL=kind:algorithm,... asks for another)"},
    {"MUR_COLL_PIECE", "coll", "bytes", 0, 0, LONG_MAX, SETTING(coll_piece), MUR_ANY_TIME, true,
     "of a large message that is passed on piece by piece, by algorithms named after chains and pieces; 0 chooses"},
    {"MUR_COLL_LINE_NS", "coll", "nanoseconds", 12, 0, LONG_MAX, SETTING(coll_line_ns), MUR_ANY_TIME, false,
     "where writing a cache line that others have read takes longer, large data go past the caches; 0: everywhere"},
    {"MUR_COLL_REPRODUCIBLE", "coll", "0 or 1", 0, 0, 1, SETTING(coll_reproducible), MUR_ANY_TIME, true,
     "1: the result of a reduction depends on the data of the ranks only, to the bit, and not on where they run"},
    {"MUR_COLL_CHECK", "coll", "0 or 1", 0, 0, 1, SETTING(coll_check), MUR_ANY_TIME, true,
     "1: ranks compare what they ask for before each collective: operation, root, counts, datatypes"},
    {"MUR_RMA_DIRECT", "rma", "0 or 1", 1, 0, 1, SETTING(rma_direct), MUR_ANY_TIME, true,
     "one-sided operations reach the memory of ranks of the node directly; 0 uses messages for everything"},
    {"MUR_RMA_ASSIST_MAX", "rma", "bytes", 8192, 0, 16384, SETTING(rma_assist_max), MUR_ANY_TIME, false,
     "largest operation that a rank of the node performs for another while it polls; 0: none, system calls copy it"},
    {"MUR_RMA_PATIENCE", "rma", "nanoseconds", 2000, 0, 1000000000, SETTING(rma_patience), MUR_ANY_TIME, false,
     "how long such an operation waits for the rank before it is copied"},
    {"MUR_RMA_JOINT", "rma", "0 or 1", 1, 0, 1, SETTING(rma_joint), MUR_ANY_TIME, false,
     "a target that waits does part of large one-sided operations, where it reaches the buffers of both sides"},
    {"MUR_PROGRESS_THREAD", "engine", "0 or 1", 0, 0, 1, SETTING(progress_thread), MUR_BEFORE_START, false,
     "1: a thread answers one-sided operations that come by message while the program computes"},
    {"MUR_IO_SHARED", "io", "0 or 1", 1, 0, 1, SETTING(io_shared), MUR_ANY_TIME, true,
     "ranks of one node access a file together through memory that they share; 0 exchanges messages"},
    {"MUR_IO_URING", "io", "0 or 1", 1, 0, 1, SETTING(io_uring), MUR_ANY_TIME, false,
     "nonblocking access to files goes on while the program computes (io_uring); 0 makes progress within MPI only"},
    {"MUR_CHECK", "process", "0 or 1", MUR_FORGIVING, MUR_FORGIVING, MUR_STRICT, SETTING(check), MUR_ANY_TIME, false,
     "strict (1): refuses what the standard forbids but other libraries allow: sums of MPI_CHAR, freeing requests of "
     "collectives that are under way; and errors without a communicator ask MPI_COMM_SELF only; forgiving: 0"},
    {"MUR_HUGE_PAGES", "process", "0, 1 or 2", 1, 0, 2, SETTING(huge_pages), MUR_ANY_TIME, false,
     "for large pieces of MPI_Alloc_mem: 1 asks for transparent huge pages, 2 takes reserved ones first, 0 neither"},
    {"MUR_ALLOC_SHARED", "process", "-1, 0 or 1", -1, -1, 1, SETTING(alloc_shared), MUR_ANY_TIME, false,
     "MPI_Alloc_mem gives memory that the ranks of the node reach directly: 0 never, 1 always, -1 where no huge pages "
     "are lost by it"},
    {"MUR_INFO", "process", "0 or 1", 0, 0, 1, SETTING(info), MUR_BEFORE_START, false,
     "rank 0 prints version, transports and all settings at start"},
};
const size_t mur_setting_count = sizeof mur_setting_table / sizeof mur_setting_table[0];

const struct mur_text_setting mur_text_setting_table[] = {
    {"MUR_TRANSPORT", "process", "which transports may be used, a list of shm and tcp; empty: both"},
    {"MUR_TCP_INCLUDE", "tcp", "network interfaces or subnets to use, a list; empty: all"},
    {"MUR_TCP_EXCLUDE", "tcp", "network interfaces or subnets not to use, a list"},
    {"MUR_TCP_PORTS", "tcp", "ports to listen on, first:last; empty: the system chooses"},
    {"MUR_NODES", "process",
     "pretended nodes on one machine: ranks on each, as in 2,1,4, or *3 to deal them to 3; for tests and measurements"},
    {"MUR_COLL", "coll", "algorithms of collectives: kind:algorithm, a list"},
};
const size_t mur_text_setting_count = sizeof mur_text_setting_table / sizeof mur_text_setting_table[0];

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

const char *mur_text_setting_value(const struct mur_text_setting *setting)
{
    const char *value = getenv(setting->name);

    return value ? value : "";
}

static bool parse(const struct mur_setting *setting, const char *text, long *value)
{
    char *end;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].offset == setting->offset && !strcmp(text, words[i].word)) {
            *value = words[i].value;
            return true;
        }
    errno = 0;
    *value = strtol(text, &end, 10);
    if (end == text || errno)
        return false;
    if (*end == 'k' || *end == 'K')
        *value *= 1024, end++;
    else if (*end == 'm' || *end == 'M')
        *value *= 1024 * 1024, end++;
    return !*end && *value >= setting->minimum && *value <= setting->maximum;
}

/* Names of before, which are valid for one more release. */
static const struct {
    const char *name, *now;
} former_names[] = {{"MUR_RMA_ERRAND_MAX", "MUR_RMA_ASSIST_MAX"}};

/* What the environment says of a setting; *former is the name by which it does, if that is one of before, else NULL. */
static const char *text_of(const struct mur_setting *setting, const char **former)
{
    const char *text = getenv(setting->name);

    *former = NULL;
    for (size_t i = 0; !text && i < sizeof former_names / sizeof former_names[0]; i++)
        if (!strcmp(former_names[i].now, setting->name) && (text = getenv(former_names[i].name)))
            *former = former_names[i].name;
    return text;
}

/* Returns how many values are to be spoken of, the first of them described. */
static int read_all(char *complaint, size_t bytes)
{
    int complaints = 0;

    for (size_t i = 0; i < mur_setting_count; i++) {
        const struct mur_setting *setting = &mur_setting_table[i];
        const char *former, *text = text_of(setting, &former);
        long value;

        *mur_setting_value(setting) = setting->default_value;
        if (!text || !*text)
            continue;
        if (parse(setting, text, &value)) {
            *mur_setting_value(setting) = value;
            if (former && complaints++ == 0)
                snprintf(complaint, bytes, "%s is called %s now; the old name is valid until the next release", former,
                         setting->name);
        } else if (complaints++ == 0)
            snprintf(complaint, bytes, "%s is '%s', but must be a number (%s) from %ld to %ld; %ld is used instead",
                     setting->name, text, setting->unit, setting->minimum, setting->maximum, setting->default_value);
    }
    return complaints;
}

/* Once only: what a tool has written before MPI starts must last. */
const char *mur_settings_read(void)
{
    static bool is_read;
    static char complaint[256];

    pthread_mutex_lock(&guard);
    if (!is_read && !read_all(complaint, sizeof complaint))
        complaint[0] = 0;
    is_read = true;
    pthread_mutex_unlock(&guard);
    return complaint[0] ? complaint : NULL;
}
