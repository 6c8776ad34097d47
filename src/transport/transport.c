/* SPDX-License-Identifier: BSD-3-Clause */
/* Which transports the user wants: MUR_TRANSPORT, a list of names. */
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi.h"
#include "transport/foreign.h"

static const char *wanted(void)
{
    const char *text = getenv("MUR_TRANSPORT");

    return text && *text ? text : "shm,tcp";
}

bool mur_transport_is_wanted(const char *name)
{
    size_t length = strlen(name);

    for (const char *text = wanted(); *text; text += strcspn(text, ","), text += *text == ',')
        if (strcspn(text, ",") == length && strncmp(text, name, length) == 0)
            return true;
    return false;
}

int mur_transport_check(void)
{
    for (const char *text = wanted(); *text; text += strcspn(text, ","), text += *text == ',') {
        int length = (int)strcspn(text, ",");

        if ((length != 3) || (strncmp(text, "shm", 3) != 0 && strncmp(text, "tcp", 3) != 0))
            return mur_error(MPI_ERR_OTHER,
                             "MUR_TRANSPORT names the transport '%.*s', but there are: shm, tcp (for example "
                             "MUR_TRANSPORT=shm,tcp)",
                             length, text);
    }
    return MPI_SUCCESS;
}
