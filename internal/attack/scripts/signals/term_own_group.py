# attack: end the guest's process group and any part of the Runner in it
# class: 13
# walls: environment pid seccomp
# absent: os.kill
# expect: held outcome:signaled outcome:exited outcome:raised
# naked: no it would end the test
# alone: yes

import signal

def attempt():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.kill(0, signal.SIGTERM)
    os.kill(0, signal.SIGKILL)

result = judged(attempt)
