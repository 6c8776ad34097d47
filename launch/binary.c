/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the dynamic linker would read of an ELF file: the list of libraries, directories to look for them, and the
 * symbols. The file is a user's, so every offset is checked against its length. */
#include "launch/binary.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MUR_DOORS
#define MUR_DOORS "lib/murmur/compat"
#endif

struct file {
    const char *bytes;
    size_t length;
};

/* `count` objects of `size` bytes at this offset, or NULL. */
static const void *at(const struct file *file, uint64_t offset, uint64_t size, uint64_t count)
{
    if (offset > file->length || offset % 8 || (size && count > (file->length - offset) / size))
        return NULL;
    return file->bytes + offset;
}

static bool map_file(int directory, const char *path, struct file *file)
{
    struct stat status;
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;

    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    *file = (struct file){bytes, (size_t)status.st_size};
    return true;
}

/* The header of an object of this machine's kind, or NULL. */
static const ElfW(Ehdr) * header_of(const struct file *file)
{
    static const ElfW(Half) machine =
#if defined(__x86_64__)
        EM_X86_64;
#elif defined(__aarch64__)
        EM_AARCH64;
#else
        EM_NONE;
#endif
    const ElfW(Ehdr) *header = at(file, 0, sizeof *header, 1);

    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        (machine != EM_NONE && header->e_machine != machine) || header->e_phentsize != sizeof(ElfW(Phdr)))
        return NULL;
    return header;
}

static const ElfW(Phdr) * segments_of(const struct file *file, const ElfW(Ehdr) * header)
{
    return at(file, header->e_phoff, sizeof(ElfW(Phdr)), header->e_phnum);
}

/* Where in the file an address of the loaded object lies; UINT64_MAX: nowhere. */
static uint64_t offset_of(const ElfW(Phdr) * segments, int count, uint64_t address)
{
    for (int i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD && address - segments[i].p_vaddr < segments[i].p_filesz)
            return segments[i].p_offset + (address - segments[i].p_vaddr);
    return UINT64_MAX;
}

/* A string that ends within the file, or "". */
static const char *text_at(const struct file *file, uint64_t offset)
{
    if (offset >= file->length || !memchr(file->bytes + offset, '\0', file->length - offset))
        return "";
    return file->bytes + offset;
}

/* ---- families */

static const struct {
    const char *library; /* the beginning of its name */
    enum mur_family family;
    const char *what;
} known[] = {
    {"libmpi_abi.so.", MUR_FAMILY_STANDARD, NULL},
    {"libmpi_abi_fortran.so.", MUR_FAMILY_STANDARD, NULL},
    {"libmpi.so.12", MUR_FAMILY_MPICH, NULL},
    {"libmpich.so.12", MUR_FAMILY_MPICH, NULL},
    {"libmpifort.so.12", MUR_FAMILY_MPICH, NULL},
    {"libmpichfort.so.12", MUR_FAMILY_MPICH, NULL},
    {"libmpicxx.so.12", MUR_FAMILY_MPICH, NULL},
    {"libmpichcxx.so.12", MUR_FAMILY_MPICH, NULL},
    {"libmpi.so.40", MUR_FAMILY_OPENMPI, NULL},
    {"libopen_mpi.so.40", MUR_FAMILY_OPENMPI, NULL},
    {"libmpi_mpifh.so.40", MUR_FAMILY_OPENMPI, NULL},
    {"libmpi_usempi_ignore_tkr.so.40", MUR_FAMILY_OPENMPI, NULL},
    {"libmpi_usempif08.so.40", MUR_FAMILY_OPENMPI, NULL},
    {"libmpi_cxx.so.40", MUR_FAMILY_OPENMPI, NULL},
    {"libmpi.so.0", MUR_FAMILY_OTHER, "Open MPI 1.2 to 1.4"},
    {"libmpi.so.1", MUR_FAMILY_OTHER, "Open MPI 1.5 or 1.6, or an MPI of HP or IBM"},
    {"libmpi.so.20", MUR_FAMILY_OTHER, "Open MPI 2 or 3.0"},
    {"libmpich.so.1.0", MUR_FAMILY_OTHER, "MPICH 1"},
    {"libmpich.so.1", MUR_FAMILY_OTHER, "MPICH 2 before 1.3"},
    {"libmpich.so.3", MUR_FAMILY_OTHER, "MPICH 2"},
    {"libmpich.so.10", MUR_FAMILY_OTHER, "MPICH 3.0"},
    {"libmpichf90.so.", MUR_FAMILY_OTHER, "MPICH 2 or 3.0"},
    {"libmpi.so.4", MUR_FAMILY_OTHER, "Intel MPI 4"},
};

const char *mur_family_name(enum mur_family family)
{
    static const char *const names[] = {[MUR_FAMILY_STANDARD] = "the standard ABI of MPI-5.0",
                                        [MUR_FAMILY_MPICH] = "MPICH",
                                        [MUR_FAMILY_OPENMPI] = "Open MPI"};

    return family < MUR_FAMILY_OTHER && names[family] ? names[family] : "an unknown MPI";
}

/* A name that ends with '.' stands for all versions. */
static int row_of(const char *library)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i].library);

        if (known[i].library[length - 1] == '.' ? strncmp(library, known[i].library, length) == 0
                                                : strcmp(library, known[i].library) == 0)
            return (int)i;
    }
    return -1;
}

void mur_binary_of_library(const char *library, struct mur_binary *binary)
{
    char name[NAME_MAX + 1];
    int row;

    memset(binary, 0, sizeof *binary);
    snprintf(name, sizeof name, "%s", library);
    while ((row = row_of(name)) < 0 && strrchr(name, '.'))
        *strrchr(name, '.') = '\0';
    if (row < 0)
        return;
    binary->family = known[row].family;
    binary->what = known[row].what;
}

static void note_library(struct mur_binary *binary, const char *library)
{
    int row = row_of(library);

    if (row < 0)
        return;
    if (binary->library_count < (int)(sizeof binary->libraries / sizeof binary->libraries[0]))
        snprintf(binary->libraries[binary->library_count++], sizeof binary->libraries[0], "%s", library);
    if (binary->family != MUR_FAMILY_UNKNOWN)
        return;
    snprintf(binary->library, sizeof binary->library, "%s", library);
    binary->family = known[row].family;
    binary->what = known[row].what;
}

static void read_dynamic(const struct file *file, const ElfW(Phdr) * segments, int count, const ElfW(Dyn) * entries,
                         size_t entry_count, struct mur_binary *binary)
{
    uint64_t strings = UINT64_MAX;
    bool has_runpath = false;

    for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            strings = offset_of(segments, count, entries[i].d_un.d_ptr);
        binary->ignores_path |= entries[i].d_tag == DT_RPATH;
        has_runpath |= entries[i].d_tag == DT_RUNPATH;
    }
    binary->ignores_path &= !has_runpath;
    for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL && strings < file->length; i++)
        if (entries[i].d_tag == DT_NEEDED && entries[i].d_un.d_val < file->length)
            note_library(binary, text_at(file, strings + entries[i].d_un.d_val));
}

/* ---- symbols */

static bool each_symbol(const struct file *file, const ElfW(Ehdr) * header,
                        void (*each)(void *owner, const char *symbol), void *owner)
{
    const ElfW(Shdr) *sections = at(file, header->e_shoff, sizeof *sections, header->e_shnum);

    for (int i = 0; sections && i < header->e_shnum; i++) {
        const ElfW(Sym) * symbols;
        uint64_t count = sections[i].sh_size / sizeof *symbols;

        if (sections[i].sh_type != SHT_DYNSYM || sections[i].sh_link >= header->e_shnum)
            continue;
        symbols = at(file, sections[i].sh_offset, sizeof *symbols, count);
        for (uint64_t s = 1; symbols && s < count; s++) /* a copy relocation makes a symbol the program's own */
            each(owner, text_at(file, sections[sections[i].sh_link].sh_offset + symbols[s].st_name));
        return symbols != NULL;
    }
    return false;
}

/* Open MPI 1.7 to 1.10 has a library of the name of MPICH's. */
static void note_symbol(void *owner, const char *symbol)
{
    struct mur_binary *binary = owner;

    if (strncmp(symbol, "ompi_mpi_", 9) == 0) {
        binary->family = MUR_FAMILY_OTHER;
        binary->what = "Open MPI 1.7 to 1.10";
    }
}

bool mur_binary_read(int directory, const char *path, struct mur_binary *binary)
{
    const ElfW(Ehdr) * header;
    const ElfW(Phdr) * segments;
    struct file file;

    memset(binary, 0, sizeof *binary);
    if (!map_file(directory, path, &file))
        return false;
    header = header_of(&file);
    segments = header ? segments_of(&file, header) : NULL;
    for (int i = 0; segments && i < header->e_phnum; i++) {
        size_t count = segments[i].p_filesz / sizeof(ElfW(Dyn));
        const ElfW(Dyn) *entries =
            segments[i].p_type == PT_DYNAMIC ? at(&file, segments[i].p_offset, sizeof *entries, count) : NULL;

        if (entries) {
            binary->is_object = true;
            read_dynamic(&file, segments, header->e_phnum, entries, count, binary);
        }
    }
    if (binary->family == MUR_FAMILY_MPICH)
        each_symbol(&file, header, note_symbol, binary);
    munmap((void *)(uintptr_t)file.bytes, file.length);
    return true;
}

bool mur_binary_wants(const char *path, void (*each)(void *owner, const char *symbol), void *owner)
{
    const ElfW(Ehdr) * header;
    struct file file;
    bool is_good;

    if (!map_file(AT_FDCWD, path, &file))
        return false;
    header = header_of(&file);
    is_good = header && each_symbol(&file, header, each, owner);
    munmap((void *)(uintptr_t)file.bytes, file.length);
    return is_good;
}

/* bin/mpiexec finds lib/murmur/compat beside bin. */
const char *mur_doors_folder(void)
{
    static char folder[PATH_MAX];
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (*folder || length < 0)
        return folder;
    program[length] = '\0';
    for (int i = 0; i < 2; i++)
        if (strrchr(program, '/'))
            *strrchr(program, '/') = '\0';
    if (snprintf(folder, sizeof folder, "%s/%s", program, MUR_DOORS) >= (int)sizeof folder || access(folder, X_OK) < 0)
        *folder = '\0';
    return folder;
}
