/* SPDX-License-Identifier: BSD-3-Clause */
/* murmur-info PROGRAM: which MPI a program was built for, and whether it runs on Murmur. The dynamic linker itself says
 * which libraries it would load; then every MPI name that the program lacks must be in Murmur's library. */
#include "program-info.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/binary.h"

struct findings {
    struct mur_binary binary;
    char loaded[2048]; /* from where the first MPI library comes; "" where none is loaded */
    void *door;        /* Murmur's library for the family; NULL: none */
    int missing;
    char first_missing[128];
};

/* The file of a name that is looked for along PATH, as the shell does. */
static const char *find(const char *name, char *room, size_t bytes)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/') || !path)
        return name;
    while (*path) {
        size_t length = strcspn(path, ":");

        snprintf(room, bytes, "%.*s/%s", (int)length, path, name);
        if (access(room, X_OK) == 0)
            return room;
        path += length + (path[length] == ':');
    }
    return name;
}

/* The list of the dynamic linker that this process has, too, with Murmur's libraries in the path; NULL: none. */
static FILE *list_libraries(const char *path, pid_t *child)
{
    Dl_info linker;
    int ends[2];

    if (!dladdr((void *)getauxval(AT_BASE), &linker) || pipe(ends) < 0)
        return NULL;
    *child = fork();
    if (*child == 0) {
        const char *others = getenv("LD_LIBRARY_PATH");
        char value[8192];

        snprintf(value, sizeof value, "%s%s%s", mur_doors_folder(), others ? ":" : "", others ? others : "");
        setenv("LD_LIBRARY_PATH", value, 1);
        dup2(ends[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        execl(linker.dli_fname, linker.dli_fname, "--list", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (*child < 0) {
        close(ends[0]);
        return NULL;
    }
    return fdopen(ends[0], "r");
}

/* The program may name MPI by a library of its own: then that library's family is the program's. */
static void read_list(const char *path, struct findings *findings)
{
    char line[4096], name[256], from[2048];
    struct mur_binary part;
    pid_t child;
    FILE *list = list_libraries(path, &child);

    if (!list)
        return;
    while (fgets(line, sizeof line, list)) {
        if (sscanf(line, " %255s => %2047s", name, from) != 2)
            continue;
        if (findings->binary.family == MUR_FAMILY_UNKNOWN && mur_binary_read(AT_FDCWD, from, &part) &&
            part.family != MUR_FAMILY_UNKNOWN && !strstr(from, mur_doors_folder()))
            findings->binary = part;
        if (findings->binary.library[0] && strcmp(name, findings->binary.library) == 0)
            snprintf(findings->loaded, sizeof findings->loaded, "%s", strcmp(from, "not") == 0 ? "" : from);
    }
    fclose(list);
    waitpid(child, NULL, 0);
}

static bool is_of_mpi(const char *symbol)
{
    return !strncmp(symbol, "MPI_", 4) || !strncmp(symbol, "PMPI_", 5) || !strncmp(symbol, "MPIX_", 5) ||
           !strncmp(symbol, "ompi_mpi_", 9) || !strncmp(symbol, "MPIR_", 5);
}

static void look_up(void *owner, const char *symbol)
{
    struct findings *findings = owner;

    if (!is_of_mpi(symbol) || dlsym(findings->door, symbol))
        return;
    if (!findings->missing++)
        snprintf(findings->first_missing, sizeof findings->first_missing, "%s", symbol);
}

/* 0: it runs. */
static int verdict(const char *name, const struct findings *findings)
{
    const struct mur_binary *binary = &findings->binary;

    if (binary->family == MUR_FAMILY_OTHER) {
        printf("It does not run on Murmur, which has no library for %s: build it anew, with mpicc.\n", binary->what);
        return 1;
    }
    if (binary->family != MUR_FAMILY_STANDARD && !findings->door) {
        printf("It does not run on Murmur: %s/%s is missing.\n", mur_doors_folder(), binary->library);
        return 1;
    }
    if (findings->missing) {
        printf("It may fail: %d name%s that it lacks, %s for one, Murmur does not have.\n", findings->missing,
               findings->missing == 1 ? "" : "s", findings->first_missing);
        return 1;
    }
    if (binary->family == MUR_FAMILY_STANDARD)
        printf("It runs on Murmur; libmpi_abi.so.1 comes from %s.\n",
               *findings->loaded ? findings->loaded : "nowhere yet");
    else if (strstr(findings->loaded, mur_doors_folder()))
        printf("It runs on Murmur: mpiexec %s does what is needed; without mpiexec, set LD_LIBRARY_PATH=%s\n", name,
               mur_doors_folder());
    else
        printf("It runs on Murmur under mpiexec, which loads Murmur's library first; by itself it would load %s, since "
               "its "
               "own paths count before LD_LIBRARY_PATH.\n",
               *findings->loaded ? findings->loaded : "none");
    return 0;
}

int program_info(const char *name)
{
    struct findings findings = {.missing = 0};
    char room[4096], door[4096];
    const char *path = find(name, room, sizeof room);

    if (!mur_binary_read(AT_FDCWD, path, &findings.binary)) {
        fprintf(stderr, "murmur-info: cannot read the program '%s'\n", path);
        return 2;
    }
    if (findings.binary.is_object)
        read_list(path, &findings);
    if (findings.binary.family == MUR_FAMILY_UNKNOWN) {
        printf("%s: names no MPI library. What it loads or starts itself, as Python's modules and scripts' programs, "
               "finds "
               "Murmur under mpiexec.\n",
               path);
        return 0;
    }
    printf("%s: built for %s (%s)\n", path,
           findings.binary.family == MUR_FAMILY_OTHER ? findings.binary.what : mur_family_name(findings.binary.family),
           findings.binary.library);
    snprintf(door, sizeof door, "%s/%s", mur_doors_folder(), findings.binary.library);
    if (findings.binary.family == MUR_FAMILY_MPICH || findings.binary.family == MUR_FAMILY_OPENMPI)
        findings.door = dlopen(door, RTLD_LAZY | RTLD_LOCAL);
    if (findings.door)
        mur_binary_wants(path, look_up, &findings);
    return verdict(name, &findings);
}
