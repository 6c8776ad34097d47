/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *mur_library_open(const char *const *names, size_t count)
{
    void *library = NULL;

    for (size_t i = 0; !library && i < count; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

const char *mur_library_find(void *library, void *table, const struct mur_library_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, functions[i].name);

        if (!address)
            return functions[i].name;
        memcpy((char *)table + functions[i].offset, &address, sizeof address);
    }
    return NULL;
}
