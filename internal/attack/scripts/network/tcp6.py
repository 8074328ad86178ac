# attack: connect to a TCP listener over IPv6, also with a mapped IPv4 address
# class: 9
# walls: net seccomp landlock

import socket

def attempt():
    def connect(address, port):
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as s:
            s.settimeout(2)
            s.connect((address, port))
            return "connected and heard " + s.recv(200).decode()
    return any_of(lambda: connect("::1", need("tcp6_port")), lambda: connect("::ffff:127.0.0.1", need("tcp4_port")))

result = judged(attempt)
