# attack: signal the parent, the one that started all guests
# class: 13
# walls: pid seccomp landlock uid
# absent: os.getppid os.kill
# alone: yes
# naked: same-uid

import signal

# In an own process namespace the parent is invisible: its number is 0.
def attempt():
    parent = os.getppid()
    if parent == 0:
        raise Held("the parent has no number here")
    os.kill(parent, signal.SIGCONT)
    return "signalled parent %d" % parent

result = judged(attempt)
