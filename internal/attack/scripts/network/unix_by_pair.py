# attack: reach Unix sockets of the host with one half of a datagram socket pair
# class: 9
# walls: seccomp mount
# needs: scratch
# absent: socket.AF_UNIX
# naked: yes

import socket

# socketpair is needed by asyncio; but the halves of a datagram pair may be
# sent from, or connected, to any address.
def attempt():
    def send(address):
        a, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        a.sendto(b"hello", address)
        return "sent to %r" % address
    def connect(address):
        a, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        a.connect(address)
        a.send(b"hello")
        return "connected to %r" % address
    return any_of(*[lambda way=way, key=key, lead=lead: way(lead + need(key))
                    for key, lead in (("unixgram_path", ""), ("abstractgram", "\0")) for way in (send, connect)])

result = judged(attempt)
