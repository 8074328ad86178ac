# attack: signal every process that can be signaled
# class: 13
# walls: pid seccomp landlock uid
# absent: os.kill
# alone: yes
# naked: no it would reach every process of the machine

import signal

# SIGCONT is harmless to processes that do not count it; the host counts it.
def attempt():
    os.kill(-1, signal.SIGCONT)
    return "signalled all processes"

result = judged(attempt)
