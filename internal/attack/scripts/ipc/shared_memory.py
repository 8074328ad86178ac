# attack: read a System V shared memory segment of the host
# class: 8
# walls: ipc seccomp
# needs: syscall

def attempt():
    need("shm")
    segment = syscall("shmget", need("sysv_key"), 0, 0)
    address = syscall("shmat", segment, 0, 0o10000)
    return "the segment says " + ctypes.string_at(address, 60).decode("utf-8", "replace")

result = judged(attempt)
