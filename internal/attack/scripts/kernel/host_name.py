# attack: rename the host
# class: 8
# walls: seccomp capabilities
# needs: syscall
# absent: socket.sethostname
# naked: no it would rename the machine

import socket

def attempt():
    def rename():
        socket.sethostname(context["marker"])
        return "the host is now called " + os.uname().nodename
    def rename_domain():
        syscall("setdomainname", context["marker"].encode(), len(context["marker"]))
        return "renamed the domain"
    return any_of(rename, rename_domain)

result = judged(attempt)
