# attack: leave signal handlers, exit handlers, trace functions and timers for the next run
# class: 19
# walls: environment

import atexit, signal, threading

def left_behind(*a):
    return None

for number in (signal.SIGUSR1, signal.SIGALRM):
    signal.signal(number, left_behind)
sys.excepthook = left_behind
threading.settrace(left_behind)
atexit.register(left_behind)
result = {"escaped": False, "detail": "left them"}
# --- next run ---
import signal, threading

def attempt():
    found = [str(n) for n in (signal.SIGUSR1, signal.SIGALRM) if getattr(signal.getsignal(n), "__name__", "") == "left_behind"]
    if getattr(sys.excepthook, "__name__", "") == "left_behind":
        found.append("excepthook")
    if getattr(threading._trace_hook, "__name__", "") == "left_behind":
        found.append("trace function")
    return found and "found " + ", ".join(found)

result = judged(attempt)
