# attack: send forged packets through raw and ping sockets
# class: 9
# walls: net seccomp capabilities
# naked: root

import socket

def attempt():
    echo = b"\x08\x00\xf7\xff\x00\x00\x00\x00"
    def ping(kind):
        s = socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP)
        s.settimeout(2)
        s.sendto(echo, ("127.0.0.1", 0))
        return "an echo came back: %r" % s.recv(200)[:8]
    return any_of(lambda: ping(socket.SOCK_RAW), lambda: ping(socket.SOCK_DGRAM))

result = judged(attempt)
