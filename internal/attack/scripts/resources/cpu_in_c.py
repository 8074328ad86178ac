# attack: compute forever in one call that never returns to the interpreter
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=3s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out outcome:out_of_memory outcome:raised

result = 9 ** 9 ** 9 % 7
