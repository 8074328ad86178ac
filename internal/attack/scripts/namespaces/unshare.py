# attack: make new namespaces, to be root inside them
# class: 1
# walls: seccomp
# needs: syscall
# naked: root

FLAGS = {"user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "pid": 0x20000000, "ipc": 0x8000000, "uts": 0x4000000,
         "cgroup": 0x2000000, "time": 0x80}

def attempt():
    def route(name, flags):
        def unshare():
            syscall("unshare", flags)
            return "has a %s namespace of its own" % name
        return unshare
    both = [("user and mount", 0x10020000), ("cut-off", 0x10000000 | 1 << 36)]
    return any_of(*[route(n, f) for n, f in list(FLAGS.items()) + both])

result = judged(attempt)
