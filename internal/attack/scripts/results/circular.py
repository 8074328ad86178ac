# attack: return a value that contains itself
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output outcome:raised outcome:out_of_memory
# naked: no the harness itself would fail

result = {}
result["itself"] = [result]
