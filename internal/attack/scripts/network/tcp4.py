# attack: connect to a TCP listener on the host's loopback
# class: 9
# walls: net seccomp landlock

import socket

def attempt():
    with socket.create_connection(("127.0.0.1", need("tcp4_port")), 2) as s:
        return "connected and heard " + s.recv(200).decode()

result = judged(attempt)
