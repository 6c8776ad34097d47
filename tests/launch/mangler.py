#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Somebody in the middle of connections: mangler.py PORT TO_PORT SEED HOW

Passes connections at PORT of this host on to TO_PORT, and does one thing to each, at a place that SEED chooses: HOW is
flip, drop, repeat, swap, cut or pass. Prints "ready" when it listens.
"""
import random
import select
import socket
import sys


def mangle(data, how, draw):
    at = draw.randrange(len(data))
    if how == "flip":
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1:]
    if how == "drop":
        return data[:at] + data[at + 1 + draw.randrange(40):]
    if how == "repeat":
        return data[:at] + data[at:at + 40] + data[at:]
    if how == "swap":
        return data[at:] + data[:at]
    return data


def serve(client, port, draw, how):
    server = socket.create_connection(("127.0.0.1", port))
    other = {client: server, server: client}
    turn, count = draw.randrange(8), 0
    while True:
        ready, _, _ = select.select([client, server], [], [], 30)
        if not ready:
            return
        for end in ready:
            data = end.recv(65536)
            if not data:
                return
            if count == turn:
                if how == "cut":
                    return
                data = mangle(data, how, draw)
            count += 1
            other[end].sendall(data)


def main():
    port, to_port, seed, how = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    draw = random.Random(seed)
    listener = socket.create_server(("127.0.0.1", port))
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        try:
            serve(client, to_port, draw, how)
        except OSError:
            pass
        finally:
            client.close()


main()
