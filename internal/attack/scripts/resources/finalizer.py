# attack: keep running in a finalizer and in signal handlers that fire endlessly
# class: 16
# walls: pid seccomp rlimit
# absent: signal.ITIMER_REAL signal.setitimer
# limits: wall_time=700ms
# expect: held outcome:timed_out outcome:out_of_cpu outcome:raised outcome:signaled
# naked: no it depends on how an interpreter is ended

import gc, signal, time

class Slow:
    def __del__(self):
        time.sleep(3600)

signal.signal(signal.SIGALRM, lambda *_: None)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
except (OSError, Absent):
    pass
slow = Slow()
slow.itself = slow
result = {"escaped": False, "detail": "the finalizer did not hold up the run"}
