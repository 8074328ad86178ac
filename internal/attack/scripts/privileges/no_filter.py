# attack: find that no filter stands, in the first thread or a new one
# class: 4
# walls: seccomp
# needs: syscall threads

import threading

def attempt():
    seen = []
    def look():
        try:
            seen.append(syscall("prctl", 21, 0, 0, 0, 0))
        except OSError as e:
            seen.append(str(e))
    look()
    thread = threading.Thread(target=look)
    start(thread)
    thread.join()
    return 0 in seen and "seccomp modes are %s" % seen

result = judged(attempt)
