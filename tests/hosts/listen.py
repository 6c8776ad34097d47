#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whoever listens on the network: listen.py INTERFACE FILE writes all packets into the file until it is ended."""
import socket
import sys

ears = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
ears.bind((sys.argv[1], 0))
with open(sys.argv[2], "wb", buffering=0) as file:
    print("ready", flush=True)
    while True:
        file.write(ears.recv(1 << 16))
