# attack: print endlessly in small pieces
# class: 18
# walls: rlimit pid seccomp
# limits: wall_time=10s output=64KiB
# expect: held outcome:out_of_output outcome:out_of_cpu

# The host compares the output with the limit.
for n in range(60000):
    print("flood", n, "x" * 100)
result = {"escaped": False, "detail": "all was printed; the host decides how much of it came out"}
