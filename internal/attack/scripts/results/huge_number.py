# attack: return a number of 100,000 digits, which takes very long to write
# class: 14
# walls: environment pid seccomp
# limits: wall_time=5s
# expect: outcome:invalid_output outcome:succeeded outcome:raised
# naked: no the harness itself would fail

result = 1 << 332000
