/* SPDX-License-Identifier: BSD-3-Clause */
/* How many ranks of the job share this machine's cores. Hosts of a list may be one machine, as containers or network
 * namespaces, whose agents know nothing of each other; so each tells mpiexec's own agent what machine it is on, by the
 * kernel's boot id and the cores that it may use, and asks how many ranks there are on that one. Containers that have
 * different cores do not disturb each other, and count as different machines.
 *
 * It is told as a value under "machine?" and the host: the machine's number and the ranks. Once all hosts have told,
 * the sums are values under "machine!" and the machine's number. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/agent/inside.h"
#include "launch/alloc.h"

#define QUESTION "machine?"
#define ANSWER   "machine!"

static void mix(uint64_t *number, const void *data, size_t bytes) /* FNV-1a */
{
    for (const unsigned char *at = data; bytes--; at++)
        *number = (*number ^ *at) * UINT64_C(1099511628211);
}

static uint64_t machine_number(void)
{
    uint64_t number = UINT64_C(14695981039346656037);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char text[64] = "";
    cpu_set_t cores;

    if (file) {
        if (!fgets(text, sizeof text, file))
            text[0] = '\0';
        fclose(file);
    }
    mix(&number, text, strlen(text));
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        mix(&number, &cores, sizeof cores);
    return number;
}

/* ---- of every agent with ranks ---- */

static void learn(void *owner, const char *key, const char *value)
{
    (void)key;
    if (value)
        mur_agent_set_machine_ranks(owner, atoi(value));
}

void mur_agent_tell_machine(struct mur_agent *agent)
{
    char text[96], key[48];
    uint64_t number;
    int length;

    if (agent->job->hosts.count < 2)
        return;
    number = machine_number();
    length = snprintf(text, sizeof text, QUESTION "%d", agent->node);
    snprintf(text + length + 1, sizeof text - (size_t)length - 1, "%" PRIx64 " %d", number, agent->count);
    mur_agent_put(agent, text);
    snprintf(key, sizeof key, ANSWER "%" PRIx64, number);
    mur_agent_get(agent, key, learn, agent);
}

/* ---- of mpiexec's own agent ---- */

bool mur_agent_is_of_machine(const char *key)
{
    return strncmp(key, QUESTION, strlen(QUESTION)) == 0;
}

void mur_agent_note_machine(struct mur_agent *agent, const char *value)
{
    struct mur_agent_machine *machine = agent->machines;
    uint64_t number;
    int ranks, i = 0;

    if (sscanf(value, "%" SCNx64 " %d", &number, &ranks) != 2 || agent->machines_told == agent->job->hosts.count)
        return;
    if (!machine)
        machine = agent->machines = mur_alloc((size_t)agent->job->hosts.count, sizeof *machine);
    while (i < agent->machines_told && machine[i].ranks && machine[i].number != number)
        i++;
    machine[i].number = number;
    machine[i].ranks += ranks;
    if (++agent->machines_told < agent->job->hosts.count)
        return;
    for (i = 0; i < agent->machines_told && machine[i].ranks; i++) {
        char key[48], sum[16];

        snprintf(key, sizeof key, ANSWER "%" PRIx64, machine[i].number);
        snprintf(sum, sizeof sum, "%d", machine[i].ranks);
        mur_kvs_put(agent->kvs, key, sum);
    }
}
