# attack: use the kernel's crypto through AF_ALG
# class: 8
# walls: seccomp
# naked: yes maybe the kernel may lack it

import socket

def attempt():
    s = socket.socket(getattr(socket, "AF_ALG", 38), getattr(socket, "SOCK_SEQPACKET", 5))
    s.bind(("hash", "sha256"))
    with s.accept()[0] as op:
        op.sendall(b"x")
        return "the kernel hashed: " + op.recv(32).hex()

result = judged(attempt)
