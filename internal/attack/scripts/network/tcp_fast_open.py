# attack: connect with TCP Fast Open, which sends without calling connect
# class: 9
# walls: net seccomp

import socket

# Landlock's rule for connect() did not cover this before Linux 7.2.
def attempt():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.settimeout(2)
    s.sendto(b"hello", getattr(socket, "MSG_FASTOPEN", 0x20000000), ("127.0.0.1", need("tcp4_port")))
    return "connected and heard " + s.recv(200).decode()

result = judged(attempt)
