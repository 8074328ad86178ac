# attack: take a message from a System V queue of the host
# class: 8
# walls: ipc seccomp
# needs: syscall

def attempt():
    need("msg")
    queue = syscall("msgget", need("sysv_key"), 0)
    buffer = ctypes.create_string_buffer(104)
    n = syscall("msgrcv", queue, buffer, 96, 0, 0o4000)
    return "the message says " + buffer.raw[8:8 + n].decode("utf-8", "replace")

result = judged(attempt)
