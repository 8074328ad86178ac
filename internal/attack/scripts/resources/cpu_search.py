# attack: compute forever in searches of one huge text in another
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=4s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out outcome:out_of_memory

result = bool([("ab" * 200000 + "c" + "a" * n) in "ab" * 4000000 for n in range(10 ** 6)])
