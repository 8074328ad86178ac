# attack: connect to a Unix socket of the host by its path
# class: 9
# walls: mount seccomp

import socket

# Landlock covers these only since 2026; this also tries the path of Docker's socket.
def attempt():
    def connect(path):
        s = socket.socket(getattr(socket, "AF_UNIX", 1))
        s.settimeout(2)
        s.connect(path)
        return "connected to " + path + " and heard " + s.recv(200).decode()
    return any_of(lambda: connect(need("unix_path")), lambda: connect("/run/docker.sock"), lambda: connect("/run/dbus/system_bus_socket"))

result = judged(attempt)
