/* SPDX-License-Identifier: BSD-3-Clause */
/* mpijob: checks and runs MPI jobs that are written for Kubernetes.
 *
 * Folders, each of which calls those before it only: document/ (YAML and JSON as trees), schema/ (tables of fields and
 * the check), api/ (what is known of the Kubernetes API), store/ (the objects there are), reconcile/ (a pure function
 * from objects to actions), runner/ (pods as processes of this machine), client/ (calls and watches of an API),
 * controller/, node/ and server/ (the API itself), cli/ (the commands). docs/kubernetes.md is the user's view. */
#include <stdio.h>
#include <string.h>

#include "launch/say.h"
#include "mpijob/cli/cli.h"

static const char usage[] =
    "mpijob validate [--quiet] FILE...    check MPIJobs (kubeflow.org/v1, v2beta1) and Volcano's jobs, in YAML or "
    "JSON\n"
    "mpijob run [OPTION...] FILE          run an MPIJob on this machine, without a cluster; the exit code is the\n"
    "                                     launcher's\n"
    "    --image NAME=DIRECTORY|host      what a container's image stands for; --image DIRECTORY|host for all of them\n"
    "    --set-status FILE                writes the MPIJob with its status there, as JSON, whenever it changes\n"
    "    --restart-delay SECONDS          before the first retry of a launcher, doubled each time (default 10)\n"
    "    --keep                           stay after the end of the job until its TTL is over, or it is deleted\n"
    "    --no-namespaces                  pods are groups of processes, which share the machine's network and files\n"
    "mpijob serve [OPTION...]             the part of the Kubernetes API that MPI jobs need, with a controller and a\n"
    "                                     node, on this machine\n"
    "    --listen HOST:PORT               where it listens (default 127.0.0.1:6443)\n"
    "    --data DIRECTORY                 where all that it keeps lies, and its kubeconfig (default\n"
    "                                     ~/.local/state/mpijob)\n"
    "    --token-file FILE                who else may use it: lines of TOKEN,USER,UID,GROUP\n"
    "    --cert FILE --key FILE           its certificate; without it, it makes its own\n"
    "    --image, --restart-delay, --no-namespaces     as for run\n"
    "    --no-controller                  another controller acts on the jobs\n"
    "mpijob console [OPTION...]           a web page for MPI jobs; it starts mpijob serve if nothing says where the "
    "API\n"
    "                                     is\n"
    "    --listen HOST:PORT               where it listens (default 127.0.0.1:8080)\n"
    "    --api URL, --kubeconfig FILE     the cluster; also $KUBECONFIG\n"
    "    --namespace NAMESPACE            whose jobs it shows (default: the kubeconfig's)\n"
    "    --token-file FILE                who may use it: lines of ROLE TOKEN [NAME], where the role is look, submit "
    "or\n"
    "                                     administer (default: it makes a token of each at its start)\n"
    "    --session SECONDS                until a login expires (default 28800)\n"
    "    --tls-certificate FILE --tls-key FILE     without them it speaks plain HTTP\n"
    "    --data, --image, --restart-delay, --no-namespaces     of the serve that it starts\n"
    "mpijob controller [OPTION...]        acts on the MPIJobs of a cluster\n"
    "    --kubeconfig FILE                the cluster (default: $KUBECONFIG, or the pod's own account)\n"
    "    --namespace NAMESPACE            only of its jobs; --lease-namespace NAMESPACE has the Lease\n"
    "    --identity NAME                  in the Lease; --restart-delay SECONDS as for run\n"
    "mpijob get|describe|suspend|resume|delete [-n NAMESPACE] JOB     of jobs that run here, or in a cluster\n"
    "mpijob logs [-n NAMESPACE] [-f] [JOB] POD\n"
    "    --kubeconfig FILE, --api URL     the cluster; also $KUBECONFIG\n";

/* The commands that need the libraries of the API. */
static int serve(const char *command, int count, char **words)
{
#ifdef MUR_HAVE_API
    if (strcmp(command, "console") == 0)
        return mur_cli_console(count, words);
    return strcmp(command, "serve") == 0 ? mur_cli_serve(count, words) : mur_cli_controller(count, words);
#else
    (void)command;
    (void)count;
    (void)words;
    mur_quit(MUR_EXIT_USAGE, "this mpijob was built without the libraries that the Kubernetes API needs");
#endif
}

int main(int count, char **words)
{
    static const char *const asked[] = {"get", "describe", "suspend", "resume", "delete", "logs", NULL};

    mur_say_name = "mpijob";
    if (count < 2)
        mur_quit(MUR_EXIT_USAGE, "what is to be done? See mpijob help");
    if (strcmp(words[1], "help") == 0 || strcmp(words[1], "-h") == 0 || strcmp(words[1], "-help") == 0 ||
        strcmp(words[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    if (strcmp(words[1], "version") == 0 || strcmp(words[1], "--version") == 0) {
        puts("mpijob of Murmur " MUR_VERSION);
        return 0;
    }
    if (strcmp(words[1], "validate") == 0)
        return mur_cli_validate(count - 2, words + 2);
    if (strcmp(words[1], "run") == 0)
        return mur_cli_run(count - 2, words + 2);
    if (strcmp(words[1], "serve") == 0 || strcmp(words[1], "controller") == 0 || strcmp(words[1], "console") == 0)
        return serve(words[1], count - 2, words + 2);
    for (int i = 0; asked[i]; i++)
        if (strcmp(words[1], asked[i]) == 0)
            return mur_cli_ask(words[1], count - 2, words + 2);
    mur_quit(MUR_EXIT_USAGE, "unknown command %s; see mpijob help", words[1]);
}
