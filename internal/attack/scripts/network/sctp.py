# attack: open SCTP, UDP-Lite, DCCP and SMC sockets, which Landlock does not cover
# class: 9
# walls: net seccomp
# naked: yes

import socket

def attempt():
    def opens(family, kind, protocol):
        def route():
            s = socket.socket(family, kind, protocol)
            s.bind(("127.0.0.1", 0))
            s.connect(("127.0.0.1", 9))
            return "connected a socket of protocol %d" % protocol
        return route
    return any_of(opens(2, socket.SOCK_STREAM, 132), opens(2, 6, 33), opens(2, socket.SOCK_DGRAM, 136), opens(43, socket.SOCK_STREAM, 0))

result = judged(attempt)
