# attack: reach the hypervisor through AF_VSOCK, which no namespace covers
# class: 8
# walls: seccomp
# naked: yes maybe the kernel may lack it

import socket

def attempt():
    s = socket.socket(40, socket.SOCK_STREAM)
    return "opened a vsock socket, descriptor %d" % s.fileno()

result = judged(attempt)
