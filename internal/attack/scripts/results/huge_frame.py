# attack: announce a frame of 4 GiB on the result's channel
# class: 14
# walls: environment pid seccomp
# limits: wall_time=1s
# expect: held outcome:out_of_result outcome:timed_out
# naked: no there is no channel without cordon

import time

write_channel(b"D\xff\xff\xff\xff" + b"x" * 1000)
time.sleep(3600)
result = None
