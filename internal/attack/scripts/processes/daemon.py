# attack: leave a daemon behind that outlives the run
# class: 17
# walls: seccomp pid
# needs: syscall
# absent: os.fork os.setsid os.waitpid
# naked: yes

import time

# Its name is the marker that the host looks for.
def attempt():
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            libc().prctl(15, context["marker"].encode(), 0, 0, 0)
            for fd in range(0, 64):
                try:
                    os.close(fd)
                except OSError:
                    pass
            time.sleep(20)
        os._exit(0)
    os.waitpid(pid, 0)
    return "left a daemon behind"

result = judged(attempt)
