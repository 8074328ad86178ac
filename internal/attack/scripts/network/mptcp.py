# attack: connect with Multipath TCP, which Landlock's TCP rules do not cover
# class: 9
# walls: net seccomp
# naked: yes maybe the kernel may lack MPTCP

import socket

def attempt():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    s.settimeout(2)
    s.connect(("127.0.0.1", need("tcp4_port")))
    return "connected and heard " + s.recv(200).decode()

result = judged(attempt)
