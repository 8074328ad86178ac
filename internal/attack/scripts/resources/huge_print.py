# attack: print 130 MB at once
# class: 18
# walls: rlimit pid seccomp
# limits: wall_time=8s output=64KiB memory=600MiB
# expect: held outcome:out_of_output outcome:out_of_memory

sys.stdout.write("x" * 130000000)
result = {"escaped": False, "detail": "all was printed; the host decides how much of it came out"}
