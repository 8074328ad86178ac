# attack: listen on a TCP port
# class: 9
# walls: net seccomp landlock

import socket

# In an empty network namespace the port exists but is unreachable. An interface that is
# up counts as a gain, so the guest connects to itself.
def attempt():
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.bind(("0.0.0.0", 0))
    server.listen()
    with socket.create_connection(server.getsockname(), 2):
        return "listens on port %d" % server.getsockname()[1]

result = judged(attempt)
