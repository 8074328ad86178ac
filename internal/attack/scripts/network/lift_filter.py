# attack: install a filter that allows everything on top of the one that forbids
# class: 4
# walls: seccomp net
# needs: syscall

import socket, struct

# Filters stack, and the strictest answer must win; this checks that.
def attempt():
    try:
        install()
    except Absent:
        pass  # nothing to lift: the connection is tried all the same
    with socket.create_connection(("127.0.0.1", need("tcp4_port")), 2) as s:
        return "connected and heard " + s.recv(200).decode()

def install():
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
    for call in (lambda: syscall("prctl", 38, 1, 0, 0, 0), lambda: syscall("seccomp", 1, 0, program),
                    lambda: syscall("prctl", 22, 2, program, 0, 0), lambda: syscall("prctl", 22, 0, 0, 0, 0)):
        try:
            call()
        except OSError:
            pass

result = judged(attempt)
