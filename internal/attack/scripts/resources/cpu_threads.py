# attack: use the CPU time of many threads at once
# class: 16
# walls: rlimit cgroup pid seccomp
# needs: threads
# limits: wall_time=4s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out

import hashlib, threading

# Hashing large blocks lets go of the interpreter's lock.
def burn():
    block = b"x" * (1 << 20)
    while True:
        hashlib.sha256(block).digest()

try:
    start(*[threading.Thread(target=burn, daemon=True) for _ in range(4)])
except Absent:
    pass  # one of them is enough
burn()
result = None
