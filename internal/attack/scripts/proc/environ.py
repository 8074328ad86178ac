# attack: read the environment of the host, of pid 1 and of the interpreter in /proc
# class: 10
# walls: mount landlock
# gvisor: gVisor's own /proc, with the guest's own processes
# naked: same-uid

def attempt():
    def route(pid):
        def opens():
            text = read("/proc/%s/environ" % pid)
            return text and "read %d characters of environ of %s" % (len(text), pid)
        return opens
    return any_of(*map(route, ("self", 1, context["host_pid"], parent())))

result = judged(attempt)
