# attack: recurse in C: repr, compile and json of deep nesting
# class: 16
# walls: rlimit cgroup
# limits: wall_time=5s
# expect: held outcome:signaled outcome:out_of_memory outcome:raised outcome:malformed
# naked: no a crash would harm nobody else

import json

sys.setrecursionlimit(10**6)
deep = []
for _ in range(50000):
    deep = [deep]
for act in (lambda: repr(deep), lambda: json.dumps(deep), lambda: compile("-" * 100000 + "1", "x", "eval"), lambda: deep == [deep]):
    try:
        act()
    except (RecursionError, MemoryError, SyntaxError, ValueError):
        pass
while deep:
    deep = deep[0]
result = {"escaped": False, "detail": "exceptions ended it"}
