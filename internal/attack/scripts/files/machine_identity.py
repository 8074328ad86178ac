# attack: read what identifies the host: machine-id, hostname, resolv.conf, os-release
# class: 20
# walls: mount landlock

def attempt():
    def route(path):
        return lambda: read(path).strip() and "read " + path
    return any_of(*map(route, ("/etc/machine-id", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/fstab")))

result = judged(attempt)
