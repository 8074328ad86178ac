# attack: connect to an abstract Unix socket of the host
# class: 9
# walls: net landlock seccomp

import socket

def attempt():
    s = socket.socket(getattr(socket, "AF_UNIX", 1))
    s.settimeout(2)
    s.connect("\0" + need("abstract"))
    return "connected and heard " + s.recv(200).decode()

result = judged(attempt)
