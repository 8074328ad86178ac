# attack: find that no filter is installed, in the first thread or a new one
# class: 4
# walls: seccomp
# needs: syscall threads

import threading

def attempt():
    modes = []
    def read_mode():
        try:
            modes.append(syscall("prctl", 21, 0, 0, 0, 0))
        except OSError as e:
            modes.append(str(e))
    read_mode()
    thread = threading.Thread(target=read_mode)
    start(thread)
    thread.join()
    return 0 in modes and "seccomp modes are %s" % modes

result = judged(attempt)
