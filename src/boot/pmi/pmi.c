/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the launcher, and the checks that all protocols share.
 *
 * Who is asked: PMI_FD, a socket inherited from the launcher (Hydra, Slurm's pmi2, Flux); then PMI_PORT and PMI_ID, an
 * address to connect to (Hydra's -pmi-port); then PMIx (prterun, Slurm's pmix). PMI comes before PMIx, since the inner
 * of two nested launchers is usually the one that made the descriptor. PMI-1.1 is asked for first: every server of
 * PMI-2 known serves it too, and it says all we need. */
#include "boot/pmi/pmi.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "boot/pmi/protocol.h"
#include "mpi.h"

enum { KEY_MAX = 40, HANDSHAKE_MS = 120000 };

static void forget(struct mur_pmi *pmi)
{
    mur_pmi_wire_close(pmi);
    free(pmi->reply);
    free(pmi->mapping);
    memset(pmi, 0, sizeof *pmi);
    pmi->fd = -1;
    pmi->size = 1;
    pmi->appnum = pmi->universe_size = -1;
}

static bool is_socket(const char *text, int *fd)
{
    struct stat status;

    return mur_pmi_number(text, fd) && *fd >= 0 && fstat(*fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Over pmi->fd, which is open. */
static int open_wire(struct mur_pmi *pmi, enum mur_pmi_kind kind, const char *port_mode_id)
{
    const char *spawned = getenv("PMI_SPAWNED");
    bool speaks_2 = kind == MUR_PMI_2;
    int rc;

    fcntl(pmi->fd, F_SETFD, FD_CLOEXEC);
    pmi->deadline_ms = HANDSHAKE_MS;
    pmi->is_spawned = spawned && strcmp(spawned, "1") == 0;
    rc = mur_pmi_1_introduce(pmi, port_mode_id);
    if (!rc && !speaks_2) {
        pmi->kind = MUR_PMI_1;
        pmi->protocol = &mur_pmi_protocol_1;
        rc = mur_pmi_1_open(pmi, &speaks_2);
    }
    if (!rc && speaks_2) {
        pmi->kind = MUR_PMI_2;
        pmi->protocol = &mur_pmi_protocol_2;
        rc = mur_pmi_2_open(pmi);
    }
    if (!rc && (pmi->size < 1 || pmi->rank < 0 || pmi->rank >= pmi->size))
        rc = mur_error(MPI_ERR_OTHER, "the launcher says rank %d of %d, which cannot be", pmi->rank, pmi->size);
    pmi->deadline_ms = -1; /* other ranks may come when they like */
    return rc;
}

static int find_and_open(struct mur_pmi *pmi, enum mur_pmi_kind kind)
{
    const char *fd = getenv("PMI_FD"), *port = getenv("PMI_PORT"), *id = getenv("PMI_ID");
    char text[400];
    int rc;

    if (kind != MUR_PMI_X && fd && is_socket(fd, &pmi->fd))
        return open_wire(pmi, kind, NULL);
    pmi->fd = -1;
    if (kind != MUR_PMI_X && port && id) {
        rc = mur_pmi_wire_connect(pmi, port);
        return rc ? rc : open_wire(pmi, kind, id);
    }
    if (kind != MUR_PMI_1 && kind != MUR_PMI_2 && getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK")) {
        pmi->kind = MUR_PMI_X;
        pmi->protocol = &mur_pmi_protocol_x;
        return mur_pmix_open(pmi);
    }
    return mur_pmi_unreachable(text, sizeof text) ? mur_error(MPI_ERR_OTHER, "%s", text) : MPI_SUCCESS;
}

int mur_pmi_open_as(struct mur_pmi *pmi, enum mur_pmi_kind kind)
{
    int rc;

    memset(pmi, 0, sizeof *pmi);
    pmi->fd = -1;
    forget(pmi);
    rc = find_and_open(pmi, kind);
    if (rc)
        forget(pmi);
    return rc;
}

int mur_pmi_open(struct mur_pmi *pmi)
{
    return mur_pmi_open_as(pmi, MUR_PMI_NONE);
}

static int check(const struct mur_pmi *pmi, const char *what)
{
    return pmi->protocol ? MPI_SUCCESS
                         : mur_error(MPI_ERR_OTHER, "cannot %s: this process was not started by a launcher", what);
}

static int check_key(const struct mur_pmi *pmi, const char *key)
{
    int rc = check(pmi, "use the launcher's key-value space");

    if (rc)
        return rc;
    if (!*key || strlen(key) > KEY_MAX)
        return mur_error(MPI_ERR_OTHER, "the key '%s' is %zu bytes long, but must be 1 to %d", key, strlen(key),
                         KEY_MAX);
    for (const char *c = key; *c; c++)
        if (*c <= ' ' || *c > '~' || strchr(";=%\\", *c))
            return mur_error(MPI_ERR_OTHER, "the key '%s' has a character that launchers do not take", key);
    return MPI_SUCCESS;
}

int mur_pmi_put(struct mur_pmi *pmi, const char *key, const char *value)
{
    int rc = check_key(pmi, key);

    return rc ? rc : pmi->protocol->put(pmi, key, value);
}

int mur_pmi_commit(struct mur_pmi *pmi)
{
    int rc = check(pmi, "commit");

    return rc || !pmi->protocol->commit ? rc : pmi->protocol->commit(pmi);
}

int mur_pmi_fence(struct mur_pmi *pmi)
{
    int rc = check(pmi, "wait for the other ranks");

    return rc ? rc : pmi->protocol->fence(pmi);
}

int mur_pmi_get(struct mur_pmi *pmi, int rank, const char *key, char **value)
{
    int rc = check_key(pmi, key);

    *value = NULL;
    if (!rc && (rank < MUR_PMI_JOB || rank >= pmi->size))
        rc = mur_error(MPI_ERR_RANK, "rank is %d, but must be from 0 to %d", rank, pmi->size - 1);
    return rc ? rc : pmi->protocol->get(pmi, rank, key, value);
}

static int check_service(const struct mur_pmi *pmi, const char *service)
{
    int rc = check(pmi, "publish or look up names");

    return rc || *service ? rc : mur_error(MPI_ERR_SERVICE, "the service's name is empty");
}

int mur_pmi_publish(struct mur_pmi *pmi, const char *service, const char *port)
{
    int rc = check_service(pmi, service);

    return rc ? rc : pmi->protocol->publish(pmi, service, port);
}

int mur_pmi_unpublish(struct mur_pmi *pmi, const char *service)
{
    int rc = check_service(pmi, service);

    return rc ? rc : pmi->protocol->unpublish(pmi, service);
}

int mur_pmi_lookup(struct mur_pmi *pmi, const char *service, char **port)
{
    int rc = check_service(pmi, service);

    *port = NULL;
    return rc ? rc : pmi->protocol->lookup(pmi, service, port);
}

int mur_pmi_spawn(struct mur_pmi *pmi, const struct mur_pmi_command *commands, int count,
                  const struct mur_pmi_pair *preputs, int preput_count)
{
    int rc = check(pmi, "start processes");

    for (int i = 0; i < preput_count && !rc; i++)
        rc = check_key(pmi, preputs[i].key);
    for (int i = 0; i < count && !rc; i++)
        if (!*commands[i].program)
            rc = mur_error(MPI_ERR_SPAWN, "command %d of the spawn has no program", i);
        else if (commands[i].ranks < 1)
            rc = mur_error(MPI_ERR_SPAWN, "command %d of the spawn asks for %d processes, but must for 1 or more", i,
                           commands[i].ranks);
    return rc ? rc : pmi->protocol->spawn(pmi, commands, count, preputs, preput_count);
}

void mur_pmi_abort(struct mur_pmi *pmi, int code, const char *text)
{
    if (pmi->protocol)
        pmi->protocol->abort(pmi, code, text);
}

int mur_pmi_finalize(struct mur_pmi *pmi)
{
    int rc = pmi->protocol ? pmi->protocol->finalize(pmi) : MPI_SUCCESS;

    forget(pmi);
    return rc;
}
