# attack: ignore every signal that could end the run, swallow every exception, and keep running
# class: 16
# walls: rlimit cgroup pid seccomp
# absent: signal.SIG_BLOCK signal.pthread_sigmask
# limits: wall_time=3s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out

import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
try:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
except Absent:
    pass
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
result = None
