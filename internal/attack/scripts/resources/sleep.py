# attack: sleep forever, which no CPU time limit notices
# class: 16
# walls: pid seccomp rlimit
# limits: wall_time=500ms
# expect: outcome:timed_out

import time

time.sleep(3600)
result = None
