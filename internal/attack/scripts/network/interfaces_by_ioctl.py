# attack: list the host's interfaces with ioctl on a socket pair, without calling socket
# class: 9
# walls: net seccomp
# absent: fcntl

import fcntl, socket, struct

# These ioctls answer on sockets of any family, so also on the pair that
# asyncio needs.
def attempt():
    a, _ = socket.socketpair()
    for index in range(1, 32):
        request = bytearray(struct.pack("16si20x", b"", index))
        try:
            fcntl.ioctl(a, 0x8910, request)
        except OSError as e:
            if index == 1 and e.errno != 19:
                raise
            continue
        name = bytes(request[:16])
        flags = bytearray(name + bytes(24))
        fcntl.ioctl(a, 0x8913, flags)
        if struct.unpack_from("H", flags, 16)[0] & 1:
            return "sees that %s is up" % name.rstrip(b"\0").decode()

result = judged(attempt)
