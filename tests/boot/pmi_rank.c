/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank of a job of anybody's launcher, through the PMI client alone: exchanges short, long and odd values with all
 * others, twice, and says who it is. Arguments: 1, 2 or x asks for that protocol; "names" publishes and looks up;
 * "abort" has rank 1 end the job with code 7; "quit" leaves without goodbye; "spawn" starts two children, and waits for
 * them where "meet=DIRECTORY" says where they leave a file each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "boot/pmi/mapping.h"
#include "boot/pmi/pmi.h"
#include "mpi.h"

static struct mur_pmi pmi;

static void need(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "pmi_rank %d: %s failed: %s\n", pmi.rank, what, mur_error_text(rc));
    exit(1);
}

static void check(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "pmi_rank %d: not so: %s\n", pmi.rank, what);
    exit(1);
}

/* What a rank says in a turn: every third rank a long text, and characters that no protocol likes. */
static void compose(char *text, size_t bytes, int rank, int turn)
{
    size_t length = rank % 3 == 1 ? bytes - 1 : 20 + (size_t)rank % 7;

    for (size_t i = 0; i < length; i++)
        text[i] = (char)("abc ;=%\\\n\t\"'xyz\x80\xff"[(i * 7 + (size_t)rank + (size_t)turn) % 17]);
    text[rank % 3 == 2 ? 0 : length] = '\0'; /* and every third says nothing */
}

static void exchange(int turn)
{
    enum { LONGEST = 5000 };
    static char own[LONGEST], other[LONGEST];
    char key[32];
    char *got;

    snprintf(key, sizeof key, "turn-%d", turn);
    compose(own, sizeof own, pmi.rank, turn);
    need(mur_pmi_put(&pmi, key, own), "put");
    need(mur_pmi_commit(&pmi), "commit");
    need(mur_pmi_fence(&pmi), "fence");
    for (int rank = 0; rank < pmi.size; rank++) {
        need(mur_pmi_get(&pmi, rank, key, &got), "get");
        compose(other, sizeof other, rank, turn);
        check(got && strcmp(got, other) == 0, "the value is what the other rank put");
        free(got);
    }
}

static void check_mapping(void)
{
    int *node_of = malloc((size_t)pmi.size * sizeof *node_of);

    if (!pmi.mapping || !*pmi.mapping) {
        free(node_of);
        return;
    }
    check(mur_pmi_mapping_read(pmi.mapping, pmi.size, node_of), "the process mapping can be read");
    printf("rank %d: node %d of %s\n", pmi.rank, node_of[pmi.rank], pmi.mapping);
    free(node_of);
}

static void names(void)
{
    char *port = NULL;
    int rc;

    if (pmi.rank == 0)
        need(mur_pmi_publish(&pmi, "a service; of %s", "port one"), "publish");
    need(mur_pmi_fence(&pmi), "fence");
    need(mur_pmi_lookup(&pmi, "a service; of %s", &port), "lookup");
    check(port && strcmp(port, "port one") == 0, "the port is the published one");
    free(port);
    rc = mur_pmi_lookup(&pmi, "nowhere", &port);
    check(rc && mur_error_class(rc) == MPI_ERR_NAME, "a name that nobody published gives MPI_ERR_NAME");
    need(mur_pmi_fence(&pmi), "fence");
    if (pmi.rank == 0)
        need(mur_pmi_unpublish(&pmi, "a service; of %s"), "unpublish");
    need(mur_pmi_fence(&pmi), "fence");
    check(mur_pmi_lookup(&pmi, "a service; of %s", &port) != MPI_SUCCESS, "the name is taken back");
}

static char *meet; /* "meet=DIRECTORY" */

static void meeting_place(char *path, size_t bytes, int child)
{
    snprintf(path, bytes, "%s/%d", strchr(meet, '=') + 1, child);
}

/* Children are connected with their parents by nothing here. Open MPI 4.1's mpirun forgets those that still begin when
 * their parents end. */
static void wait_for_children(void)
{
    char path[200];

    for (int child = 0; child < 2; child++) {
        meeting_place(path, sizeof path, child);
        while (access(path, F_OK))
            usleep(10000);
    }
}

static void spawn(const char *program)
{
    char *arguments[] = {"child", meet, NULL};
    const struct mur_pmi_pair info = {"wdir", "/"}, preput = {"greeting", "good day; child"};
    const struct mur_pmi_command command = {program, arguments, 2, &info, 1};

    if (pmi.rank == 0)
        need(mur_pmi_spawn(&pmi, &command, 1, &preput, 1), "spawn");
    if (meet)
        wait_for_children();
    need(mur_pmi_fence(&pmi), "fence");
}

static void be_child(void)
{
    char *greeting, directory[64], path[200];

    check(pmi.is_spawned, "a child knows that it was spawned");
    need(mur_pmi_get(&pmi, MUR_PMI_JOB, "greeting", &greeting), "get");
    check(greeting && strcmp(greeting, "good day; child") == 0, "the parent's greeting is there");
    check(getcwd(directory, sizeof directory) && strcmp(directory, "/") == 0, "the child is where info says");
    free(greeting);
    if (meet) {
        meeting_place(path, sizeof path, pmi.rank);
        fclose(fopen(path, "w"));
    }
    printf("child %d: fine\n", pmi.rank);
}

int main(int argc, char **argv)
{
    enum mur_pmi_kind kind = MUR_PMI_NONE;
    char *nothing;

    for (int i = 1; i < argc; i++)
        kind = strcmp(argv[i], "1") == 0   ? MUR_PMI_1
               : strcmp(argv[i], "2") == 0 ? MUR_PMI_2
               : strcmp(argv[i], "x") == 0 ? MUR_PMI_X
                                           : kind;
    need(mur_pmi_open_as(&pmi, kind), "open");
    if (pmi.kind == MUR_PMI_NONE) {
        printf("no launcher\n");
        return 0;
    }
    exchange(0);
    need(mur_pmi_get(&pmi, pmi.size - 1, "never-put", &nothing), "get of a missing key");
    check(!nothing, "a missing key has no value");
    exchange(1);
    check_mapping();
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "meet=", 5) == 0)
            meet = argv[i];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "names") == 0)
            names();
        if (strcmp(argv[i], "spawn") == 0)
            spawn(argv[0]);
        if (strcmp(argv[i], "child") == 0)
            be_child();
        if (strcmp(argv[i], "abort") == 0 && pmi.rank == 1)
            mur_pmi_abort(&pmi, 7, "a reason; with blanks");
        if (strcmp(argv[i], "abort") == 0)
            sleep(pmi.rank == 1 ? 1 : 30), exit(7);
        if (strcmp(argv[i], "quit") == 0)
            exit(0);
    }
    printf("rank %d of %d by %s, appnum %d, universe %d, kvs %s: fine\n", pmi.rank, pmi.size,
           pmi.kind == MUR_PMI_1   ? "PMI-1"
           : pmi.kind == MUR_PMI_2 ? "PMI-2"
                                   : "PMIx",
           pmi.appnum, pmi.universe_size, pmi.kvs_name);
    need(mur_pmi_finalize(&pmi), "finalize");
    return 0;
}
