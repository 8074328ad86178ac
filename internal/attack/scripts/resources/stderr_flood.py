# attack: write endlessly to stderr, without the interpreter
# class: 18
# walls: rlimit pid seccomp
# limits: wall_time=1s output=64KiB
# expect: outcome:timed_out outcome:out_of_output outcome:out_of_cpu

block = b"x" * 65536
while True:
    os.write(2, block)
result = None
