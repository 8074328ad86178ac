# attack: stop the guest's own process, so that the run neither ends nor computes
# class: 16
# walls: pid seccomp rlimit
# absent: os.kill
# limits: wall_time=500ms
# expect: outcome:timed_out outcome:signaled
# naked: no a stopped child would have to be found and ended

import signal, time

# The first process of a namespace cannot be stopped: then sleep.
for target in (os.getpid(), 0):
    try:
        os.kill(target, signal.SIGSTOP)
    except (OSError, Absent):
        pass
time.sleep(3600)
result = None
