/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of settings. To add one: a field in struct mur_settings and a row here; everything that prints or reads
 * settings works from the table. */
#include "base/settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTING(field) offsetof(struct mur_settings, field)

const struct mur_setting mur_setting_table[] = {
    {"MUR_SHM_SINGLE_COPY", "0 or 1", 1, 0, 1, SETTING(shm_single_copy),
     "copy large messages straight between the processes' memories (process_vm_readv); 0 copies through shared memory"},
    {"MUR_SHM_EAGER_MAX", "bytes", 8192, 0, 16384, SETTING(shm_eager_max),
     "messages up to this size are sent at once, larger ones when the receiver is ready (rendezvous)"},
    {"MUR_SHM_COPY_CHUNK", "bytes", 0, 0, LONG_MAX, SETTING(shm_copy_chunk),
     "piece of a large message that sender or receiver copies at a time; 0 chooses by what is left"},
    {"MUR_SHM_LANE_SLOTS", "records", 0, 0, 65536, SETTING(shm_lane_slots),
     "records that fit into the ring between two ranks, a power of two; 0 chooses by the number of ranks"},
    {"MUR_SHM_LANE_BYTES", "bytes", 0, 0, 1L << 30, SETTING(shm_lane_bytes),
     "payload that fits into the ring between two ranks, a power of two; 0 chooses by the number of ranks"},
    {"MUR_TCP_EAGER_MAX", "bytes", 65536, 0, 262144, SETTING(tcp_eager_max),
     "messages up to this size are sent at once over the network, larger ones when the receiver is ready"},
    {"MUR_TCP_BUFFER", "bytes", 0, 0, 1L << 30, SETTING(tcp_buffer),
     "of the system's for each connection and direction; 0 lets the system choose"},
    {"MUR_TCP_TIMEOUT", "seconds", 30, 1, 1000000, SETTING(tcp_timeout),
     "how long a peer may stay out of reach before the job is ended"},
    {"MUR_UNEXPECTED_MAX", "bytes", 0, 0, LONG_MAX, SETTING(unexpected_max),
     "kept of each sender's messages that no receive was posted for, before it must wait; 0 chooses by ranks"},
    {"MUR_WAIT_SPIN", "microseconds", -1, -1, 1000000000, SETTING(wait_spin),
     "how long a waiting rank spins before it yields its core; -1 chooses by cores and ranks"},
    {"MUR_WAIT_YIELD", "microseconds", -1, -1, 1000000000, SETTING(wait_yield),
     "how long a waiting rank yields its core before it sleeps; -1 chooses by cores and ranks"},
    {"MUR_COLL_BOARD", "0 or 1", 1, 0, 1, SETTING(coll_board),
     "collectives of ranks on one node go through memory that they share; 0 uses messages for everything"},
    {"MUR_COLL_VERBOSE", "0 or 1", 0, 0, 1, SETTING(coll_verbose),
     "rank 0 tells what performs each kind of collective (MUR_COLL=kind:algorithm,... asks for another)"},
    {"MUR_RMA_DIRECT", "0 or 1", 1, 0, 1, SETTING(rma_direct),
     "one-sided operations reach the memory of ranks of the node directly; 0 uses messages for everything"},
    {"MUR_PROGRESS_THREAD", "0 or 1", 0, 0, 1, SETTING(progress_thread),
     "1: a thread answers one-sided operations that come by message while the program computes"},
    {"MUR_IO_SHARED", "0 or 1", 1, 0, 1, SETTING(io_shared),
     "ranks of one node access a file together through memory that they share; 0 exchanges messages"},
    {"MUR_INFO", "0 or 1", 0, 0, 1, SETTING(info), "rank 0 prints version, transports and all settings at start"},
};
const size_t mur_setting_count = sizeof mur_setting_table / sizeof mur_setting_table[0];

struct mur_settings mur_settings;

static bool parse(const struct mur_setting *setting, const char *text, long *value)
{
    char *end;

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

int mur_settings_read(char *complaint, size_t bytes)
{
    int complaints = 0;

    for (size_t i = 0; i < mur_setting_count; i++) {
        const struct mur_setting *setting = &mur_setting_table[i];
        const char *text = getenv(setting->name);
        long value;

        *mur_setting_value(setting) = setting->default_value;
        if (!text || !*text)
            continue;
        if (parse(setting, text, &value))
            *mur_setting_value(setting) = value;
        else if (complaints++ == 0)
            snprintf(complaint, bytes, "%s is '%s', but must be a number (%s) from %ld to %ld; %ld is used instead",
                     setting->name, text, setting->unit, setting->minimum, setting->maximum, setting->default_value);
    }
    return complaints;
}
