# attack: kill the guest's own process, so that it looks as if the host did
# class: 16
# walls: pid seccomp rlimit
# absent: os.kill
# expect: outcome:signaled outcome:exited

import signal

# SIGKILL alone must not be reported as out of memory or out of time. The
# first process of a namespace is immune to it, so abort follows.
try:
    os.kill(os.getpid(), signal.SIGKILL)
except (OSError, Absent):
    pass
os.abort()
result = None
