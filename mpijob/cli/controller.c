/* SPDX-License-Identifier: BSD-3-Clause */
/* mpijob controller: acts on the MPIJobs of any Kubernetes API. */
#include <string.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "mpijob/cli/cli.h"
#include "mpijob/controller/controller.h"

int mur_cli_controller(int count, char **words)
{
    struct mur_cluster cluster;
    struct mur_controller_plan plan = {.cluster = &cluster, .retry_delay = 10};
    const char *kubeconfig = NULL;
    char host[256] = "";

    for (int i = 0; i < count; i++) {
        const char *word = words[i] + (strncmp(words[i], "--", 2) == 0), *value = i + 1 < count ? words[i + 1] : NULL;

        if (strcmp(word, "-kubeconfig") == 0 && value)
            kubeconfig = words[++i];
        else if ((strcmp(word, "-namespace") == 0 || strcmp(word, "-n") == 0) && value)
            plan.space = words[++i];
        else if (strcmp(word, "-lease-namespace") == 0 && value)
            plan.lease_space = words[++i];
        else if (strcmp(word, "-identity") == 0 && value)
            plan.identity = words[++i];
        else if (strcmp(word, "-restart-delay") == 0 && value)
            plan.retry_delay = mur_cli_seconds("--restart-delay", words[++i]);
        else
            mur_quit(MUR_EXIT_USAGE, "controller: unknown or incomplete: %s; see mpijob help", words[i]);
    }
    mur_say_name = "mpijob controller";
    mur_cluster_load(&cluster, kubeconfig);
    gethostname(host, sizeof host - 1);
    if (!plan.identity)
        plan.identity = mur_alloc_text("%s_%d", host, (int)getpid());
    if (!plan.lease_space)
        plan.lease_space = plan.space ? plan.space : cluster.space;
    return mur_controller_run(&plan);
}
