/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic processes (MPI-5.0 §11.7 to §11.10): ports, names of services, and meeting processes of other jobs. */
#include <string.h>

#include "base/error.h"
#include "boot/names.h"
#include "comm/meet.h"
#include "engine/engine.h"
#include "mpi/bodies.h"
#include "object/comm.h"
#include "object/info.h"
#include "transport/port.h"

/* ---- ports ---- */

int mur_mpi_open_port(struct mur_info *info, char *port_name)
{
    (void)info; /* no key means anything here */
    return mur_comm_open_port(port_name);
}

int mur_mpi_close_port(const char *port_name)
{
    return mur_comm_close_port(port_name);
}

static int check_intra(const struct mur_comm *comm)
{
    return comm->remote ? mur_error(MPI_ERR_COMM, "comm is an intercommunicator, but must have one group")
                        : MPI_SUCCESS;
}

int mur_mpi_comm_accept(const char *port_name, struct mur_info *info, int root, struct mur_comm *comm,
                        MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc = check_intra(comm);

    (void)info;
    if (!rc)
        rc = mur_comm_accept(port_name ? port_name : "", root, comm, &made);
    if (!rc)
        *newcomm = mur_object_handle(made);
    return rc;
}

int mur_mpi_comm_connect(const char *port_name, struct mur_info *info, int root, struct mur_comm *comm,
                         MPI_Comm *newcomm)
{
    struct mur_comm *made = NULL;
    int rc = check_intra(comm);

    if (!rc)
        rc = mur_comm_connect(port_name ? port_name : "", info ? mur_info_get(info, "timeout") : NULL, root, comm,
                              &made);
    if (!rc)
        *newcomm = mur_object_handle(made);
    return rc;
}

int mur_mpi_comm_join(int fd, MPI_Comm *intercomm)
{
    struct mur_comm *made = NULL;
    int rc = mur_comm_join(fd, &made);

    if (!rc)
        *intercomm = mur_object_handle(made);
    return rc;
}

/* ---- names of services ---- */

static int name(enum mur_name_act act, const char *service, char *port)
{
    enum mur_name_result result = MUR_NAME_FINE;
    int rc;

    if (strlen(service) > MUR_NAME_SERVICE_MAX)
        return mur_error(act == MUR_NAME_LOOKUP ? MPI_ERR_NAME : MPI_ERR_SERVICE,
                         "the name of the service has %zu bytes, but may have %d", strlen(service),
                         MUR_NAME_SERVICE_MAX);
    rc = mur_boot_name(act, service, port, &result);
    mur_port_take_answers();
    if (rc || result == MUR_NAME_FINE)
        return rc;
    if (act == MUR_NAME_LOOKUP)
        return mur_error(MPI_ERR_NAME, "no service of this name is published");
    if (act == MUR_NAME_PUBLISH)
        return mur_error(MPI_ERR_SERVICE, result == MUR_NAME_TAKEN
                                              ? "a service of this name is published already; MPI_Unpublish_name "
                                                "takes it back"
                                              : "the launcher keeps no further name");
    return mur_error(MPI_ERR_SERVICE, result == MUR_NAME_OTHER_PORT ? "the service is published with another port"
                                                                    : "no service of this name is published");
}

/* For the two that pass a port's name. */
static int name_port(enum mur_name_act act, const char *service, const char *port_name)
{
    char port[MUR_NAME_PORT_MAX] = "";

    if (strlen(port_name) >= sizeof port)
        return mur_error(MPI_ERR_PORT, "the name of the port has %zu bytes, but may have %zu", strlen(port_name),
                         sizeof port - 1);
    strcpy(port, port_name);
    return name(act, service, port);
}

int mur_mpi_publish_name(const char *service_name, struct mur_info *info, const char *port_name)
{
    (void)info;
    return name_port(MUR_NAME_PUBLISH, service_name, port_name);
}

int mur_mpi_unpublish_name(const char *service_name, struct mur_info *info, const char *port_name)
{
    (void)info;
    return name_port(MUR_NAME_UNPUBLISH, service_name, port_name);
}

int mur_mpi_lookup_name(const char *service_name, struct mur_info *info, char *port_name)
{
    (void)info;
    return name(MUR_NAME_LOOKUP, service_name, port_name);
}
