/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank has sent to each other one: from positions in lanes and connections, which its library keeps anyway, and
 * counts of large messages (boot/look.h). Read from the rank's memory like its state, for those who ask for it. */
#include <stdlib.h>
#include <string.h>

#include "launch/agent/inside.h"
#include "launch/alloc.h"
#include "launch/status/state.h"

enum {
    ROWS_MOST = 1 << 20,
    ROW_BYTES_MOST = 4096,
    A_FRAME = sizeof((struct mur_tree_frame *)0)->text / sizeof(struct mur_rank_traffic),
};

/* A table of the rank's, copied; NULL: it has none, or it cannot be read. The caller frees it. */
static char *read_table(pid_t pid, const struct mur_look_table *table)
{
    size_t bytes = (size_t)table->rows * table->row_bytes;
    char *rows;

    if (!table->at || table->rows > ROWS_MOST || table->row_bytes > ROW_BYTES_MOST)
        return NULL;
    for (int i = 0; i < MUR_LOOK_COLUMNS; i++)
        if (table->columns[i] + sizeof(uint64_t) > table->row_bytes)
            return NULL;
    rows = mur_alloc(bytes ? bytes : 1, 1);
    if (mur_agent_read_memory(pid, table->at, rows, bytes))
        return rows;
    free(rows);
    return NULL;
}

static uint64_t cell(const char *rows, const struct mur_look_table *table, uint32_t row, int column)
{
    uint64_t value;

    memcpy(&value, rows + (size_t)row * table->row_bytes + table->columns[column], sizeof value);
    return value;
}

static void add_lanes(const struct mur_agent *agent, pid_t pid, const struct mur_look *look,
                      struct mur_rank_traffic *traffic)
{
    const struct mur_look_table *table = &look->lanes;
    char *rows = read_table(pid, table);

    for (uint32_t i = 0; rows && i < table->rows && i < (uint32_t)agent->count; i++)
        traffic[agent->ranks[i].number].path_bytes +=
            MUR_LOOK_RECORD * cell(rows, table, i, 0) + cell(rows, table, i, 1) + cell(rows, table, i, 2);
    free(rows);
}

/* A link that is being made or broken meanwhile may not be there: it counts the next time. */
static void add_links(const struct mur_agent *agent, pid_t pid, const struct mur_look *look,
                      struct mur_rank_traffic *traffic)
{
    const struct mur_look_table *table = &look->peers;
    char *rows = look->network_at ? read_table(pid, table) : NULL;

    for (uint32_t i = 0; rows && i < table->rows && i < (uint32_t)agent->job->size; i++) {
        uint64_t link = cell(rows, table, i, 1), queued;

        if (link && cell(rows, table, i, 0) == look->network_at &&
            mur_agent_read_memory(pid, link + look->link_queued, &queued, sizeof queued))
            traffic[i].path_bytes += queued;
    }
    free(rows);
}

static void add_large(const struct mur_agent *agent, pid_t pid, const struct mur_look *look,
                      struct mur_rank_traffic *traffic)
{
    const struct mur_look_table *table = &look->large;
    char *rows = read_table(pid, table);

    for (uint32_t i = 0; rows && i < table->rows && i < (uint32_t)agent->job->size; i++) {
        traffic[i].large = (uint32_t)cell(rows, table, i, 0);
        traffic[i].large_bytes = cell(rows, table, i, 1);
    }
    free(rows);
}

void mur_agent_tell_traffic(const struct mur_agent_rank *rank, pid_t pid, const struct mur_look *look)
{
    struct mur_agent *agent = rank->agent;
    struct mur_tree_frame frame = {.kind = MUR_FRAME_TRAFFIC, .rank = rank->number, .code = agent->question};
    struct mur_rank_traffic *traffic = mur_alloc((size_t)agent->job->size, sizeof *traffic);
    size_t count = 0;

    add_lanes(agent, pid, look, traffic);
    add_links(agent, pid, look, traffic);
    add_large(agent, pid, look, traffic);
    for (int to = 0; to < agent->job->size; to++) {
        if (traffic[to].path_bytes || traffic[to].large) {
            traffic[to].to = to;
            memcpy(frame.text + count++ * sizeof *traffic, &traffic[to], sizeof *traffic);
        }
        if (count && (count == A_FRAME || to == agent->job->size - 1)) {
            frame.length = (uint16_t)(count * sizeof *traffic);
            mur_agent_report(agent, &frame);
            count = 0;
        }
    }
    free(traffic);
}
