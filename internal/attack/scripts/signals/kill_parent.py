# attack: signal the parent, which starts all guests
# class: 13
# walls: pid seccomp landlock uid
# gvisor: the init of the guest's own sandbox
# absent: os.getppid os.kill
# alone: yes
# naked: same-uid

import signal

# In a new pid namespace the parent is invisible: its number is 0.
def attempt():
    parent = os.getppid()
    if parent == 0:
        raise Held("the parent has no number here")
    os.kill(parent, signal.SIGCONT)
    return "signalled parent %d" % parent

result = judged(attempt)
