# attack: start 300 threads
# class: 6
# walls: rlimit cgroup seccomp
# needs: threads
# limits: threads=16

import threading

def attempt():
    stop, alive = threading.Event(), 0
    threading.stack_size(256 << 10)  # the least on arm64 is 128 KiB, with pages of 64 KiB
    try:
        while alive < 300:
            start(threading.Thread(target=stop.wait, args=(5,), daemon=True))
            alive += 1
    finally:
        stop.set()
        if alive > 32:
            return "had %d threads" % alive
    raise Held("had %d threads" % alive)

result = judged(attempt, RuntimeError, MemoryError)
