# attack: make system calls through io_uring
# class: 1
# walls: seccomp
# needs: syscall

def attempt():
    parameters = ctypes.create_string_buffer(120)
    return "has a ring: descriptor %d" % syscall("io_uring_setup", 4, parameters)

result = judged(attempt)
