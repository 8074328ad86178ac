# attack: open sockets of every family and type
# class: 1
# walls: seccomp
# naked: yes

import socket

# Bluetooth, CAN, TIPC, RDS, SMC, XDP, QIPCRTR, ALG, KCM …: each is kernel code that no
# script needs. Even in a new network namespace they are attack surface. AF_UNIX is not
# tried here.
def attempt():
    opened = []
    for family in [f for f in range(2, 47) if f != 40]:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, getattr(socket, "SOCK_SEQPACKET", 5)):
            try:
                socket.socket(family, kind, 0).close()
            except OSError:
                continue
            opened.append(family)
            break
    return opened and "opened sockets of families %s" % opened

result = judged(attempt)
