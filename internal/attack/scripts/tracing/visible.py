# attack: find out with harmless calls that a process of the host exists
# class: 13
# walls: pid
# absent: os.PRIO_PROCESS os.getpgid os.getpriority os.getsid os.kill os.sched_getaffinity os.sched_getscheduler
# naked: yes

import errno

# EPERM from the kernel's own check would show that the process exists; EPERM from a
# filter shows nothing. So this also asks for an unused number: the answers must be equal.
def attempt():
    def differs(ask):
        def answer(pid):
            try:
                return "yes: %s" % (ask(pid),)
            except OSError as e:
                return errno.errorcode.get(e.errno)
        there, nobody = answer(context["host_pid"]), answer(4194303)
        return there != nobody and "answers %s for the host, %s for nobody" % (there, nobody)
    questions = (lambda p: os.getsid(p), lambda p: os.getpgid(p), lambda p: os.sched_getaffinity(p), lambda p: os.getpriority(os.PRIO_PROCESS, p), lambda p: os.kill(p, 0),
                 lambda p: os.sched_getscheduler(p))
    return any_of(*[lambda q=q: differs(q) for q in questions])

result = judged(attempt)
