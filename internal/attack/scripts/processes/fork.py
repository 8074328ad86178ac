# attack: make a child with fork and forkpty
# class: 17
# walls: seccomp
# absent: os.fork os.forkpty os.waitpid pty

import pty

def attempt():
    def forked(make):
        pid = make()
        if pid == 0:
            os._exit(7)
        return os.waitpid(pid, 0)[1] >> 8 == 7 and "had child %d" % pid
    return any_of(lambda: forked(os.fork), lambda: forked(lambda: os.forkpty()[0]), lambda: forked(lambda: pty.fork()[0]))

result = judged(attempt)
