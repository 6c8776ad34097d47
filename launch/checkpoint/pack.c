/* SPDX-License-Identifier: BSD-3-Clause */
/* One stream each way, in pieces of PIECE bytes. What the libraries' headers say of the few functions that are used is
 * repeated here: their interfaces are frozen ("stable API" of zstd; XXH3 of xxHash since 0.8). */
#include "launch/checkpoint/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/library.h"
#include "launch/alloc.h"

enum { PIECE = 1 << 20, NAME_MAX_BYTES = 256 };
static const char magic[8] = "MURSNAP1";

struct zstd_in {
    const void *data;
    size_t bytes, done;
};
struct zstd_out {
    void *data;
    size_t bytes, done;
};
enum { ZSTD_GO_ON = 0, ZSTD_END = 2 }; /* ZSTD_EndDirective */
enum { ZSTD_LEVEL = 100 };             /* ZSTD_c_compressionLevel; 1 is fast, and the ranks need the cores */

static struct mur_pack_functions {
    bool is_loaded, has_zstd;
    void *(*hash_new)(void);
    int (*hash_free)(void *);
    int (*hash_begin)(void *);
    int (*hash_add)(void *, const void *, size_t);
    uint64_t (*hash_end)(const void *);
    void *(*deflate_new)(void);
    size_t (*deflate_free)(void *);
    size_t (*deflate_set)(void *, int, int);
    size_t (*deflate)(void *, struct zstd_out *, struct zstd_in *, int);
    void *(*inflate_new)(void);
    size_t (*inflate_free)(void *);
    size_t (*inflate)(void *, struct zstd_out *, struct zstd_in *);
    unsigned (*is_error)(size_t);
} library;

struct stream {
    int fd;
    bool is_packed;
    void *state;  /* of zstd */
    char *buffer; /* what is on its way to or from the file */
    size_t used, end;
    bool is_over;
    char *text;
};

static bool fail(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(char *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, MUR_PACK_TEXT, format, args);
    va_end(args);
    return false;
}

bool mur_pack_load(char text[MUR_PACK_TEXT])
{
    static const char *const hash_names[] = {"libxxhash.so.0"}, *const zstd_names[] = {"libzstd.so.1"};
    static const struct mur_library_function hash_functions[] = {
        {"XXH3_createState", offsetof(struct mur_pack_functions, hash_new)},
        {"XXH3_freeState", offsetof(struct mur_pack_functions, hash_free)},
        {"XXH3_64bits_reset", offsetof(struct mur_pack_functions, hash_begin)},
        {"XXH3_64bits_update", offsetof(struct mur_pack_functions, hash_add)},
        {"XXH3_64bits_digest", offsetof(struct mur_pack_functions, hash_end)},
    };
    static const struct mur_library_function zstd_functions[] = {
        {"ZSTD_createCCtx", offsetof(struct mur_pack_functions, deflate_new)},
        {"ZSTD_freeCCtx", offsetof(struct mur_pack_functions, deflate_free)},
        {"ZSTD_CCtx_setParameter", offsetof(struct mur_pack_functions, deflate_set)},
        {"ZSTD_compressStream2", offsetof(struct mur_pack_functions, deflate)},
        {"ZSTD_createDCtx", offsetof(struct mur_pack_functions, inflate_new)},
        {"ZSTD_freeDCtx", offsetof(struct mur_pack_functions, inflate_free)},
        {"ZSTD_decompressStream", offsetof(struct mur_pack_functions, inflate)},
        {"ZSTD_isError", offsetof(struct mur_pack_functions, is_error)},
    };
    void *hash, *zstd;

    if (library.is_loaded)
        return true;
    hash = mur_library_open(hash_names, 1);
    if (!hash || mur_library_find(hash, &library, hash_functions, sizeof hash_functions / sizeof hash_functions[0]))
        return fail(text, "snapshots need libxxhash.so.0 for their checksums (Debian: libxxhash0), which is not there");
    zstd = mur_library_open(zstd_names, 1);
    library.has_zstd =
        zstd && !mur_library_find(zstd, &library, zstd_functions, sizeof zstd_functions / sizeof zstd_functions[0]);
    return library.is_loaded = true;
}

/* ---- writing ---- */

static bool write_all(int fd, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(fd, data, bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

/* `how`: ZSTD_END closes the stream. */
static bool put(struct stream *stream, const void *data, size_t bytes, int how)
{
    struct zstd_in in = {.data = data, .bytes = bytes};
    size_t left;

    if (!stream->is_packed)
        return write_all(stream->fd, data, bytes) || fail(stream->text, "cannot write: %s", strerror(errno));
    do {
        struct zstd_out out = {.data = stream->buffer, .bytes = PIECE};

        left = library.deflate(stream->state, &out, &in, how);
        if (library.is_error(left))
            return fail(stream->text, "zstd cannot compress (code %zu)", left);
        if (!write_all(stream->fd, stream->buffer, out.done))
            return fail(stream->text, "cannot write: %s", strerror(errno));
    } while (in.done < in.bytes || (how == ZSTD_END && left));
    return true;
}

static bool put_file(struct stream *stream, int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    char *piece = mur_alloc(PIECE, 1);
    struct stat status;
    uint64_t length = 0, done = 0;
    ssize_t got = 0;
    bool is_good = fd >= 0 && fstat(fd, &status) == 0;

    if (is_good)
        length = (uint64_t)status.st_size;
    else
        fail(stream->text, "cannot open '%s': %s", name, strerror(errno));
    is_good =
        is_good && put(stream, name, strlen(name) + 1, ZSTD_GO_ON) && put(stream, &length, sizeof length, ZSTD_GO_ON);
    while (is_good && done < length && (got = read(fd, piece, PIECE)) > 0) {
        done += (uint64_t)got;
        is_good = put(stream, piece, (size_t)got, ZSTD_GO_ON);
    }
    if (is_good && done != length)
        is_good = fail(stream->text, "cannot read '%s': %s", name, got < 0 ? strerror(errno) : "it has changed");
    if (fd >= 0)
        close(fd);
    free(piece);
    return is_good;
}

static bool put_folder(struct stream *stream, const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    bool is_good = true;

    if (!directory)
        return fail(stream->text, "cannot open '%s': %s", folder, strerror(errno));
    while (is_good && (entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            is_good = put_file(stream, dirfd(directory), entry->d_name);
    closedir(directory);
    return is_good;
}

bool mur_pack_write(const char *folder, const char *path, char text[MUR_PACK_TEXT])
{
    struct stream stream = {.text = text};
    unsigned char kind;
    bool is_good;

    if (!mur_pack_load(text))
        return false;
    stream.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (stream.fd < 0)
        return fail(text, "cannot make '%s': %s", path, strerror(errno));
    kind = library.has_zstd;
    is_good = put(&stream, magic, sizeof magic, ZSTD_GO_ON) && put(&stream, &kind, 1, ZSTD_GO_ON);
    stream.is_packed = library.has_zstd;
    stream.state = stream.is_packed ? library.deflate_new() : NULL;
    if (stream.is_packed)
        library.deflate_set(stream.state, ZSTD_LEVEL, 1);
    stream.buffer = mur_alloc(PIECE, 1);
    is_good = is_good && put_folder(&stream, folder) && put(&stream, "", 0, ZSTD_END);
    if (is_good && fsync(stream.fd) < 0)
        is_good = fail(text, "cannot write '%s': %s", path, strerror(errno));
    if (stream.is_packed)
        library.deflate_free(stream.state);
    free(stream.buffer);
    close(stream.fd);
    return is_good;
}

/* ---- reading ---- */

/* Reads more of the file, if all that was read has been taken. False: it has ended, or cannot be read. */
static bool refill(struct stream *stream)
{
    ssize_t got;

    if (stream->used < stream->end)
        return true;
    got = read(stream->fd, stream->buffer, PIECE);
    stream->used = 0;
    stream->end = got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Up to so many bytes of the data; 0: its end, or what is left cannot be understood. */
static size_t take_some(struct stream *stream, char *data, size_t bytes)
{
    struct zstd_out out = {.data = data, .bytes = bytes};

    if (!stream->is_packed) {
        if (!refill(stream))
            return 0;
        out.done = bytes < stream->end - stream->used ? bytes : stream->end - stream->used;
        memcpy(data, stream->buffer + stream->used, out.done);
        stream->used += out.done;
        return out.done;
    }
    while (!out.done) {
        bool has_more = refill(stream);
        struct zstd_in in = {.data = stream->buffer, .bytes = stream->end, .done = stream->used};

        if (library.is_error(library.inflate(stream->state, &out, &in)) || (!has_more && !out.done))
            return 0;
        stream->used = in.done;
    }
    return out.done;
}

static bool take(struct stream *stream, void *data, size_t bytes)
{
    for (size_t done = 0, got; done < bytes; done += got) {
        got = take_some(stream, (char *)data + done, bytes - done);
        if (!got)
            return fail(stream->text, "the image ends too early");
    }
    return true;
}

/* The name of the next file; false: there is none, or what comes is no name. */
static bool take_name(struct stream *stream, char name[NAME_MAX_BYTES])
{
    size_t length = 0;

    while (take_some(stream, &name[length], 1) && name[length]) {
        if (name[length] == '/' || ++length == NAME_MAX_BYTES)
            return fail(stream->text, "the image names no file");
    }
    stream->is_over = length == 0;
    return length > 0;
}

static bool take_file(struct stream *stream, int folder, const char *name)
{
    char *piece = mur_alloc(PIECE, 1);
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    uint64_t length = 0;
    bool is_good = fd >= 0 || fail(stream->text, "cannot make '%s': %s", name, strerror(errno));

    is_good = is_good && take(stream, &length, sizeof length);
    while (is_good && length) {
        size_t bytes = length < PIECE ? (size_t)length : PIECE;

        is_good = take(stream, piece, bytes);
        if (is_good && !write_all(fd, piece, bytes))
            is_good = fail(stream->text, "cannot write '%s': %s", name, strerror(errno));
        length -= bytes;
    }
    if (fd >= 0)
        close(fd);
    free(piece);
    return is_good;
}

static bool take_all(struct stream *stream, const char *folder)
{
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[NAME_MAX_BYTES];
    bool is_good = directory >= 0 || fail(stream->text, "cannot open '%s': %s", folder, strerror(errno));

    while (is_good && take_name(stream, name))
        is_good = take_file(stream, directory, name);
    if (directory >= 0)
        close(directory);
    return is_good && stream->is_over;
}

bool mur_pack_read(const char *path, const char *folder, char text[MUR_PACK_TEXT])
{
    struct stream stream = {.text = text};
    char start[sizeof magic + 1];
    bool is_good;

    if (!mur_pack_load(text))
        return false;
    stream.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (stream.fd < 0)
        return fail(text, "cannot open '%s': %s", path, strerror(errno));
    stream.buffer = mur_alloc(PIECE, 1);
    is_good = take(&stream, start, sizeof start) && memcmp(start, magic, sizeof magic) == 0;
    stream.is_packed = start[sizeof magic] != 0;
    if (!is_good)
        fail(text, "'%s' is not an image of Murmur's", path);
    else if (stream.is_packed && !library.has_zstd)
        is_good = fail(text, "'%s' is compressed, and libzstd.so.1 is not there (Debian: libzstd1)", path);
    if (is_good) {
        stream.state = stream.is_packed ? library.inflate_new() : NULL;
        is_good = take_all(&stream, folder);
        if (stream.is_packed)
            library.inflate_free(stream.state);
    }
    free(stream.buffer);
    close(stream.fd);
    return is_good;
}

/* ---- others ---- */

bool mur_pack_sum(const char *path, uint64_t *sum, uint64_t *bytes, char text[MUR_PACK_TEXT])
{
    char *piece;
    void *state;
    ssize_t got;
    int fd;

    if (!mur_pack_load(text))
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(text, "cannot open '%s': %s", path, strerror(errno));
    piece = mur_alloc(PIECE, 1);
    state = library.hash_new();
    library.hash_begin(state);
    *bytes = 0;
    while ((got = read(fd, piece, PIECE)) > 0) {
        library.hash_add(state, piece, (size_t)got);
        *bytes += (uint64_t)got;
    }
    *sum = library.hash_end(state);
    library.hash_free(state);
    free(piece);
    close(fd);
    return got == 0 || fail(text, "cannot read '%s': %s", path, strerror(errno));
}

uint64_t mur_pack_sum_of(const void *data, size_t bytes)
{
    void *state = library.hash_new();
    uint64_t sum;

    library.hash_begin(state);
    library.hash_add(state, data, bytes);
    sum = library.hash_end(state);
    library.hash_free(state);
    return sum;
}

void mur_pack_remove(const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;

    if (!directory)
        return;
    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(directory), entry->d_name, 0) < 0) {
            char *path = mur_alloc_text("%s/%s", folder, entry->d_name);

            mur_pack_remove(path); /* a folder of CRIU's files */
            free(path);
        }
    }
    closedir(directory);
    rmdir(folder);
}
