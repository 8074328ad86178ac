# attack: return a small value that is exponentially large when written out
# class: 14
# walls: environment pid seccomp rlimit cgroup
# limits: memory=128MiB wall_time=3s cpu_time=1s
# expect: outcome:invalid_output outcome:out_of_memory outcome:raised outcome:timed_out outcome:out_of_cpu
# naked: no it would take all memory

# "Billion laughs": 40 lists, each of them twice in the next.
result = ["ha"]
for _ in range(40):
    result = [result, result]
