/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that cannot be reached yet (-wait): pods and nodes that are still coming up, whose names do not resolve or that
 * refuse connections. What starts their agent is tried again, after pauses that grow. Its messages are seen at the
 * first try and at the last one only. A program that is missing there will not come up: that ends the job at once. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "launch/say.h"
#include "launch/tree/tree.h"

enum { FIRST_PAUSE_MS = 250, LONGEST_PAUSE_MS = 5000 };

int mur_wait_pause(int pause_ms)
{
    if (pause_ms == 0)
        return FIRST_PAUSE_MS;
    return 2 * pause_ms < LONGEST_PAUSE_MS ? 2 * pause_ms : LONGEST_PAUSE_MS;
}

bool mur_wait_again(struct mur_child *child, int status)
{
    int64_t now = mur_loop_now(), until = child->tree->wait_until;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

    if (now >= until || code == 0 || code == MUR_EXIT_NOT_FOUND || code == MUR_EXIT_NOT_EXECUTABLE)
        return false;
    child->pause_ms = mur_wait_pause(child->pause_ms);
    child->retry_at = now + child->pause_ms < until ? now + child->pause_ms : until;
    child->is_muted = child->retry_at < until;
    child->due = child->retry_at + MUR_START_MS;
    return true;
}

/* One line for all that have failed since the last look. */
static void announce(struct mur_agent_tree *tree)
{
    char names[2048] = "";
    size_t length = 0;
    int count = 0;

    for (int i = 0; i < tree->child_count; i++) {
        struct mur_child *child = &tree->children[i];

        if (!child->retry_at || child->is_announced)
            continue;
        child->is_announced = true;
        if (length < sizeof names)
            length +=
                (size_t)snprintf(names + length, sizeof names - length, "%s%s", count ? ", " : "", child->host->name);
        count++;
    }
    if (count)
        mur_say("waiting up to %d s for %s %s", tree->job->launcher.wait_ms / 1000, count == 1 ? "host" : "hosts",
                names);
}

static void try(struct mur_child *child)
{
    struct mur_tree_frame failure;

    child->retry_at = 0;
    if (mur_start_agent(child, child->tree->acceptor.port, &failure))
        return;
    child->state = MUR_CHILD_GONE;
    child->tree->calls->frame(child->tree->owner, &failure);
    child->tree->calls->changed(child->tree->owner);
}

void mur_wait_tick(struct mur_agent_tree *tree)
{
    int64_t now = mur_loop_now();

    if (!tree->job->launcher.wait_ms)
        return;
    announce(tree);
    for (int i = 0; i < tree->child_count; i++)
        if (tree->children[i].state == MUR_CHILD_STARTING && tree->children[i].retry_at &&
            now >= tree->children[i].retry_at)
            try(&tree->children[i]);
}
