# attack: send a datagram to a UDP socket on the host's loopback
# class: 9
# walls: net seccomp

import socket

def attempt():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(2)
    s.sendto(b"hello", ("127.0.0.1", need("udp4_port")))
    return "heard " + s.recv(200).decode()

result = judged(attempt)
