# attack: make the kernel send a signal: F_SETOWN and F_SETSIG on a pipe
# class: 13
# walls: seccomp pid landlock uid
# absent: fcntl os.pipe
# alone: yes
# naked: same-uid

import fcntl, signal, struct

# The host counts the signals that arrive; an accepted F_SETOWN proves nothing.
def attempt():
    pid, said = context["host_pid"], []
    for owner in (lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, pid), lambda fd: fcntl.fcntl(fd, 15, struct.pack("ii", 1, pid)),
                  lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, -context["host_pgid"])):
        r, w = os.pipe()
        try:
            owner(r)
            try:
                fcntl.fcntl(r, 10, int(signal.SIGCONT))
            finally:
                fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | 0o20000)
            os.write(w, b"x")
            said.append("asked the kernel to signal")
        except OSError as e:
            said.append(str(e))
    raise Held("; ".join(said))

result = judged(attempt)
