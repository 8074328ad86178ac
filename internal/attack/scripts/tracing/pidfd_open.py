# attack: get a pidfd of a process outside
# class: 13
# walls: seccomp pid
# needs: syscall

def attempt():
    def opens(pid):
        return lambda: "has a handle on process %d: %d" % (pid, syscall("pidfd_open", pid, 0))
    return any_of(*[opens(p) for p in (context["host_pid"], parent()) if p > 1])

result = judged(attempt)
