# attack: listen to all traffic of the host with a packet socket
# class: 9
# walls: seccomp capabilities
# naked: root

import socket

def attempt():
    s = socket.socket(getattr(socket, "AF_PACKET", 17), socket.SOCK_RAW, socket.htons(3))
    return "opened a packet socket: %s" % (s.getsockname(),)

result = judged(attempt)
