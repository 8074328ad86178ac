# attack: change the limits of the host's processes with prlimit
# class: 13
# walls: seccomp pid uid
# needs: syscall
# absent: resource
# naked: same-uid

import resource

# This only reads them: an answer of the kernel is already a gain.
def attempt():
    def ask(pid):
        def route():
            buffer = ctypes.create_string_buffer(16)
            syscall("prlimit64", pid, resource.RLIMIT_NOFILE, None, buffer)
            return "knows the limits of process %d: %s" % (pid, buffer.raw.hex())
        return route
    return any_of(*[ask(p) for p in (context["host_pid"], parent()) if p])

result = judged(attempt)
