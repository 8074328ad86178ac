# attack: signal everything that may be signalled
# class: 13
# walls: pid seccomp landlock uid
# absent: os.kill
# alone: yes
# naked: no it would reach every process of the machine

import signal

# SIGCONT is harmless to whoever does not count it; the host does.
def attempt():
    os.kill(-1, signal.SIGCONT)
    return "signalled all processes"

result = judged(attempt)
