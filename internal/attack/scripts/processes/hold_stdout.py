# attack: let a child keep the output open so that the run never seems to end
# class: 17
# walls: seccomp pid
# needs: syscall
# absent: os.fork
# naked: no the harness itself would wait for the child

import time

def attempt():
    pid = os.fork()
    if pid == 0:
        libc().prctl(15, context["marker"].encode(), 0, 0, 0)
        time.sleep(60)
        os._exit(0)
    return "left child %d with the output" % pid

result = judged(attempt)
