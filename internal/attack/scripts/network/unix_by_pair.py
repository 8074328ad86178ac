# attack: reach Unix sockets of the host from one end of a datagram socket pair
# class: 9
# walls: seccomp mount
# needs: scratch
# absent: socket.AF_UNIX
# naked: yes

import socket

# asyncio needs socketpair, but each end of a datagram pair can send or connect to any
# address.
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
