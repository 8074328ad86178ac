# attack: slow the host down through its priority, affinity or limits
# class: 13
# walls: pid seccomp uid
# needs: syscall
# absent: os.PRIO_PROCESS os.PRIO_USER os.sched_getaffinity os.sched_setaffinity os.setpriority
# naked: no an unprivileged host cannot undo it

import struct

def attempt():
    pid = context["host_pid"]
    def nice():
        os.setpriority(os.PRIO_PROCESS, pid, 5)
        return "reniced the host"
    def everybody():
        # All processes of the user: in a new namespace that is only the guest.
        os.setpriority(os.PRIO_USER, 0, 5)
    def affinity():
        os.sched_setaffinity(pid, os.sched_getaffinity(pid))
        return "set the host's affinity"
    return any_of(nice, affinity, everybody)

result = judged(attempt)
