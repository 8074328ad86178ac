# attack: compute forever in a power of huge numbers
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=4s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out outcome:out_of_memory

result = bool(len(str(pow(3, 10 ** 7, 10 ** 2000000 + 1))))
