# attack: compute forever by adding up an endless range
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=4s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out outcome:out_of_memory

result = bool(sum(range(10 ** 18)))
