# attack: list the host's interfaces with netlink
# class: 9
# walls: net seccomp

import socket, struct

# A new namespace has only "lo", and it is down.
def attempt():
    s = socket.socket(getattr(socket, "AF_NETLINK", 16), socket.SOCK_RAW, 0)
    s.settimeout(2)
    s.send(struct.pack("IHHIIBxHiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0))
    data, up = s.recv(65536), 0
    while len(data) >= 32:
        size, kind = struct.unpack_from("IH", data)
        if kind == 16:
            up += struct.unpack_from("I", data, 24)[0] & 1
        data = data[(size + 3) & ~3:]
    return up and "sees %d interfaces that are up" % up

result = judged(attempt)
