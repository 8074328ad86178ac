# attack: crash the interpreter with a null pointer
# class: 16
# walls: pid seccomp rlimit
# needs: syscall
# expect: outcome:signaled

def attempt():
    libc()
    ctypes.string_at(0)

result = judged(attempt)
