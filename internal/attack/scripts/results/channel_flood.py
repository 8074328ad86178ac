# attack: flood the result's channel with frames of every kind
# class: 14
# walls: environment pid seccomp
# limits: wall_time=2s
# expect: held outcome:invalid_output outcome:timed_out outcome:signaled outcome:out_of_cpu
# naked: no there is no channel without cordon

try:
    for n in range(2000):
        for kind in range(256):
            write_channel(bytes([kind]) + b"\x00\x00\x00\x00")
except OSError:
    pass
result = {"escaped": False, "detail": "the flood was ignored"}
