# attack: use more CPUs at once than the guest was given
# class: 7
# walls: seccomp
# needs: threads
# absent: os.sched_getaffinity os.sched_setaffinity
# limits: cpus=1
# naked: yes maybe the host may have only one

import threading

def attempt():
    cpus = []
    def widen():
        try:
            os.sched_setaffinity(0, range(1024))
        except OSError:
            pass
        cpus.append(len(os.sched_getaffinity(0)))
    thread = threading.Thread(target=widen)
    start(thread)
    thread.join()
    widen()
    return max(cpus) > 1 and "two threads on %d CPUs" % max(cpus)

result = judged(attempt)
