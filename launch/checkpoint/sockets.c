/* SPDX-License-Identifier: BSD-3-Clause */
/* CRIU binds a listening socket to its address and port again, which may be taken, or another host's. The library needs
 * neither: after a restart it listens anew (transport/tcp/tcp.c). So the image says that the socket was just made.
 *
 * The file is what CRIU documents (criu.org/Images): a magic number of 8 bytes, then for each file its length, 4 bytes,
 * and a message of Protocol Buffers, file_entry (images/fdinfo.proto), which has an inet_sk_entry
 * (images/sk-inet.proto) where it is a socket. Numbers are changed where they are, to others of the same length: a zero
 * may be written with any number of bytes. */
#include "launch/checkpoint/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/alloc.h"

enum { MAGIC_BYTES = 8, LENGTH_BYTES = 4 };
enum { ENTRY_TYPE = 1, ENTRY_SOCKET = 4, TYPE_INET = 4 };                             /* of file_entry */
enum { SOCKET_KIND = 4, SOCKET_STATE = 6, SOCKET_SRC_PORT = 7, SOCKET_DST_PORT = 8 }; /* of inet_sk_entry */
enum { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct field {
    unsigned number, wire;
    unsigned char *at; /* of its number, or of its bytes */
    size_t length;
    uint64_t value; /* of a number */
};

struct message {
    unsigned char *at, *end;
};

static bool take_number(struct message *message, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; message->at < message->end && shift < 64; shift += 7) {
        unsigned char byte = *message->at++;

        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* The next field; false: there is none, or it cannot be understood, where at < end. */
static bool take_field(struct message *message, struct field *field)
{
    unsigned char *start = message->at;
    uint64_t key;

    if (!take_number(message, &key))
        return false;
    *field = (struct field){.number = (unsigned)(key >> 3), .wire = (unsigned)(key & 7), .at = message->at};
    if (field->wire == WIRE_NUMBER && take_number(message, &field->value)) {
        field->length = (size_t)(message->at - field->at);
        return true;
    }
    if (field->wire == WIRE_BYTES && take_number(message, &key) && key <= (uint64_t)(message->end - message->at)) {
        field->at = message->at;
        field->length = (size_t)key;
    } else if (field->wire == WIRE_64 || field->wire == WIRE_32) {
        field->length = field->wire == WIRE_64 ? 8 : 4;
    } else {
        message->at = start;
        return false;
    }
    if (field->length > (size_t)(message->end - message->at)) {
        message->at = start;
        return false;
    }
    message->at += field->length;
    return true;
}

static bool find_field(struct message message, unsigned number, struct field *field)
{
    while (take_field(&message, field))
        if (field->number == number)
            return true;
    return false;
}

static void set_zero(const struct field *field)
{
    memset(field->at, 128, field->length - 1);
    field->at[field->length - 1] = 0;
}

static bool close_socket(struct message socket)
{
    struct field kind, state, source, target;

    if (!find_field(socket, SOCKET_KIND, &kind) || !find_field(socket, SOCKET_STATE, &state) ||
        !find_field(socket, SOCKET_SRC_PORT, &source) || !find_field(socket, SOCKET_DST_PORT, &target) ||
        state.wire != WIRE_NUMBER || source.wire != WIRE_NUMBER || target.wire != WIRE_NUMBER)
        return false;
    if (kind.value != SOCK_STREAM)
        return true;
    set_zero(&source);
    set_zero(&target);
    set_zero(&state);
    state.at[0] = (unsigned char)(state.length > 1 ? 128 | TCP_CLOSE : TCP_CLOSE);
    return true;
}

static bool close_all(unsigned char *data, size_t bytes)
{
    size_t at = MAGIC_BYTES;

    while (at + LENGTH_BYTES <= bytes) {
        struct field type, socket;
        struct message entry;
        uint32_t length;

        memcpy(&length, data + at, sizeof length);
        at += LENGTH_BYTES;
        if (length > bytes - at)
            return false;
        entry = (struct message){.at = data + at, .end = data + at + length};
        at += length;
        if (!find_field(entry, ENTRY_TYPE, &type))
            return false;
        if (type.value == TYPE_INET && (!find_field(entry, ENTRY_SOCKET, &socket) || socket.wire != WIRE_BYTES ||
                                        !close_socket((struct message){socket.at, socket.at + socket.length})))
            return false;
    }
    return at == bytes;
}

bool mur_sockets_close(const char *folder)
{
    char *path = mur_alloc_text("%s/files.img", folder);
    int fd = open(path, O_RDWR | O_CLOEXEC), error;
    struct stat status;
    void *data = MAP_FAILED;
    bool is_good = fd >= 0 && fstat(fd, &status) == 0;

    free(path);
    if (is_good)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    error = errno;
    if (data != MAP_FAILED) {
        error = 0;
        is_good = close_all(data, (size_t)status.st_size);
        munmap(data, (size_t)status.st_size);
    } else {
        is_good = false;
    }
    if (fd >= 0)
        close(fd);
    errno = error;
    return is_good;
}
