# attack: return a value nested 100,000 deep
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output outcome:raised
# naked: no the harness itself would fail

result = []
for _ in range(100000):
    result = [result]
