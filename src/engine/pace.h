/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ways to do the same, of which nobody tells which is faster, and that may change: both are timed, and now and then
 * something goes the slower way, to see whether it still is. */
#ifndef MUR_ENGINE_PACE_H
#define MUR_ENGINE_PACE_H

#include <stdint.h>

struct mur_pace {
    uint32_t times[2];    /* what each way takes, in picoseconds a byte; 0: not known */
    uint32_t since_tried; /* uses since the slower way was last tried */
};

/* The way to go now. With nothing known, or equal times, it is `preferred`; the slower way is tried once in so many
 * times. The other way is first tried when the time of one is known. */
static inline int mur_pace_choose(struct mur_pace *pace, int preferred, uint32_t tried_every)
{
    const uint32_t *times = pace->times;
    int other = 1 - preferred, better = times[other] && times[other] < times[preferred] ? other : preferred;

    if (!times[preferred])
        return preferred;
    if (times[other] && ++pace->since_tried < tried_every)
        return better;
    pace->since_tried = 0;
    return 1 - better;
}

/* Records that `bytes` bytes took `nanoseconds`. A better time counts at once; a worse one counts in part, since it
 * may be chance. */
static inline void mur_pace_learn(struct mur_pace *pace, int way, uint64_t bytes, uint64_t nanoseconds)
{
    uint32_t *known = &pace->times[way];
    uint64_t time = nanoseconds * 1000 / bytes + 1;

    time = time < 1000000 ? time : 1000000;
    *known = !*known || time < *known ? (uint32_t)time : (uint32_t)((3 * *known + time) / 4);
}

#endif
