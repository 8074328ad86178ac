# attack: change a System V semaphore of the host
# class: 8
# walls: ipc seccomp
# needs: syscall

import struct

def attempt():
    need("sem")
    semaphore = syscall("semget", need("sysv_key"), 1, 0)
    syscall("semop", semaphore, struct.pack("Hhh", 0, 1, 0o4000), 1)
    return "raised the host's semaphore"

result = judged(attempt)
