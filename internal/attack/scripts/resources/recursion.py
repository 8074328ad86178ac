# attack: recurse without a limit
# class: 16
# walls: rlimit cgroup
# limits: memory=64MiB wall_time=5s
# expect: held outcome:signaled outcome:out_of_memory outcome:raised outcome:out_of_cpu outcome:timed_out
# naked: no it would take all memory

sys.setrecursionlimit(2**31 - 1)

def down(n):
    return down(n + 1)

try:
    down(0)
except (RecursionError, MemoryError):
    pass
result = {"escaped": False, "detail": "an exception ended it"}
