# attack: compute forever inside a sort, with a comparison that never ends
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=4s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out

import collections, functools, itertools

class Slow:
    def __lt__(self, other):
        collections.deque(itertools.repeat(None), maxlen=0)

result = bool(sorted([Slow(), Slow()]))
