# attack: read the kernel's log
# class: 10
# walls: seccomp capabilities
# needs: syscall
# naked: root

def attempt():
    buffer = ctypes.create_string_buffer(4096)
    n = syscall("syslog", 3, buffer, 4096)
    return n > 0 and "read %d bytes of the log" % n

result = judged(attempt)
