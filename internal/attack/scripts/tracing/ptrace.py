# attack: trace the host, the parent or pid 1
# class: 13
# walls: seccomp pid landlock uid
# needs: syscall
# naked: same-uid

PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206

# PTRACE_SEIZE does not stop the target, and ends with this process.
def attempt():
    def seize(pid):
        def route():
            syscall("ptrace", PTRACE_SEIZE, pid, 0, 0)
            return "traces process %d" % pid
        return route
    return any_of(seize(context["host_pid"]), *[seize(p) for p in (parent(), 1) if p not in (0, os.getpid())])

result = judged(attempt)
