"""A script that only wants to do harm: cordon run examples/hostile.py

Nothing is caught at the end, so that cordon says what it blocked, and the
exit code is not 0.
"""
import os
import threading


def bomb():
    """As many processes as there can be: not one is made."""
    for _ in range(100):
        try:
            if os.fork() == 0:
                bomb()
        except OSError:
            pass


def threads():
    """As many threads as there can be: the limit ends it."""
    gate = threading.Event()
    started = 0
    try:
        for _ in range(1000):
            threading.Thread(target=gate.wait, daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    gate.set()
    return started


def fill_disk():
    """As much disk as there is: /tmp is small, private and gone afterwards."""
    written = 0
    try:
        with open("/tmp/fill", "wb") as file:
            while True:
                written += file.write(b"x" * (1 << 20))
                file.flush()
    except OSError:
        pass
    return written >> 20


bomb()
print("threads before the limit:", threads())
print("MiB of disk before the limit:", fill_disk())

import socket

socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("192.0.2.1", 80))
