# attack: compute forever
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=3s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out

while True:
    pass
result = None
