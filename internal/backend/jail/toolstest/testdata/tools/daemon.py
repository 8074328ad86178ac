"""Becomes a daemon by the book, serves on a socket, and answers the process that started it."""
import fcntl
import os
import socket

server = socket.socket(socket.AF_UNIX)
server.bind("daemon.sock")
server.listen()

if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    # Its own open file, so that the lock is the daemon's alone.
    lock = open("daemon.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    while True:
        connection, _ = server.accept()
        connection.sendall(b"hello")
        connection.close()

os.wait()
server.close()
client = socket.socket(socket.AF_UNIX)
client.connect("daemon.sock")
print("the daemon says", client.recv(100).decode())
