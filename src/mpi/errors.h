/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of objects, and the error classes and codes that users add. */
#ifndef MUR_MPI_ERRORS_H
#define MUR_MPI_ERRORS_H

#include <stdint.h>

#include "mpi.h"

struct mur_errhandler;

/* Does what the handler says with an error of the object behind `handle`, of this kind (enum mur_kind). Returns the
 * code, unless the handler ends the job. The caller holds a reference to the handler, and not the engine's lock, since
 * the user's function may call MPI. */
int mur_errhandler_raise(uint32_t kind, void *handle, struct mur_errhandler *handler, int code);

/* Where the error handler of a file is kept, or NULL when it is no live file. That of MPI_FILE_NULL (NULL will do)
 * serves failed opens and deletes, and is what new files start with. */
struct mur_errhandler **mur_file_errhandler(MPI_File file);

/* The text of a class or code that a user added; NULL when it is none. */
const char *mur_user_error_text(int code);

/* The class of any code, those of users, too. */
int mur_user_error_class(int code);

/* The highest number that is in use: the attribute MPI_LASTUSEDCODE. */
int mur_errors_last_used(void);

#endif
