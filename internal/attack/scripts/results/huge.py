# attack: return 100 MB
# class: 14
# walls: environment pid seccomp
# limits: memory=600MiB wall_time=8s
# expect: outcome:out_of_result outcome:out_of_memory outcome:raised
# naked: no the harness would accept it

result = "x" * 100000000
