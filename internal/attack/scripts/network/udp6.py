# attack: send a datagram over IPv6, by broadcast and by multicast
# class: 9
# walls: net seccomp

import socket

def attempt():
    def unicast():
        s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        s.settimeout(2)
        s.sendto(b"hello", ("::1", need("udp6_port")))
        return "heard " + s.recv(200).decode()
    def broadcast():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.sendto(b"hello", ("255.255.255.255", 9))
        return "sent a broadcast"
    return any_of(unicast, broadcast)

result = judged(attempt)
