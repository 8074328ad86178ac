# attack: compute forever in a regular expression
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=3s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out

import re

result = bool(re.match(r"(a+)+$", "a" * 64 + "b"))
