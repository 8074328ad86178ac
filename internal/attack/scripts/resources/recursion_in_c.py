# attack: recurse in C: json, compile, comparison and repr of deep nesting
# class: 16
# walls: rlimit cgroup
# limits: wall_time=5s
# expect: held outcome:signaled outcome:out_of_memory outcome:raised outcome:malformed outcome:timed_out outcome:out_of_cpu
# naked: no a crash affects only the script

import json

# repr comes last: at each level it searches all outer levels, which takes the square of
# the depth, and on WebAssembly longer than the time limit.
sys.setrecursionlimit(10**6)
deep = []
for _ in range(50000):
    deep = [deep]
for act in (lambda: json.dumps(deep), lambda: compile("-" * 100000 + "1", "x", "eval"), lambda: deep == [deep], lambda: repr(deep)):
    try:
        act()
    except (RecursionError, MemoryError, SyntaxError, ValueError):
        pass
while deep:
    deep = deep[0]
result = {"escaped": False, "detail": "exceptions ended it"}
