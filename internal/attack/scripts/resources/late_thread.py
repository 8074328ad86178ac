# attack: keep running in a thread after the script's end
# class: 17
# walls: pid seccomp rlimit
# needs: syscall threads
# limits: wall_time=700ms
# expect: held outcome:timed_out outcome:out_of_cpu

import threading, time

# The process has the marker: the host checks whether it still exists.
try:
    libc().prctl(15, context["marker"].encode(), 0, 0, 0)
except (Missing, Absent):
    pass

def attempt():
    start(threading.Thread(target=time.sleep, args=(3600,)))
    raise Held("the thread did not hold up the run")

result = judged(attempt)
