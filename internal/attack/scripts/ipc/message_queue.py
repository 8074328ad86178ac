# attack: read a POSIX message queue of the host
# class: 8
# walls: ipc seccomp
# needs: syscall

def attempt():
    queue = syscall("mq_open", need("mq").encode(), 0o4000, 0, 0)
    buffer = ctypes.create_string_buffer(128)
    n = syscall("mq_timedreceive", queue, buffer, 128, 0, 0)
    return "the message says " + buffer.raw[:n].decode()

result = judged(attempt)
