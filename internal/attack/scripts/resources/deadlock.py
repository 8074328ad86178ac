# attack: wait for a lock that nobody releases, with signals blocked
# class: 16
# walls: pid seccomp rlimit
# absent: signal.SIG_BLOCK signal.pthread_sigmask
# limits: wall_time=500ms
# expect: outcome:timed_out

import signal, threading

try:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
except Absent:
    pass
lock = threading.Lock()
lock.acquire()
lock.acquire()
result = None
