# attack: keep running in an exit handler after the script's end
# class: 16
# walls: pid seccomp rlimit
# limits: wall_time=700ms
# expect: held outcome:timed_out outcome:out_of_cpu

import atexit, time

atexit.register(time.sleep, 3600)
result = {"escaped": False, "detail": "the handler did not hold up the run"}
