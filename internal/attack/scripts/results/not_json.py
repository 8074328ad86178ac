# attack: return NaN and infinity
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output
# naked: no the harness would accept it

result = {"a": [float("nan"), float("inf")]}
