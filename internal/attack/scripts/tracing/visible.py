# attack: see by harmless questions that a process of the host exists
# class: 13
# walls: pid
# absent: os.PRIO_PROCESS os.getpgid os.getpriority os.getsid os.kill os.sched_getaffinity os.sched_getscheduler
# naked: yes

import errno

# Being refused (EPERM) by the kernel's own check would already say that it is
# there; a filter's EPERM says nothing. So a number that nobody has is asked
# for as well: the answers must not differ.
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
