# attack: begin a frame on the result's channel and never end it
# class: 14
# walls: environment pid seccomp
# limits: wall_time=700ms
# expect: outcome:timed_out outcome:invalid_output
# naked: no there is no channel without cordon

import time

write_channel(b"D\x00\x10\x00\x00" + b"{")
time.sleep(3600)
result = None
