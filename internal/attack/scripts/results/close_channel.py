# attack: close the result's channel, or point it elsewhere
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output outcome:exited outcome:signaled outcome:raised outcome:succeeded
# limits: wall_time=3s
# naked: no there is no channel without cordon

os.dup2(os.open("/dev/null", os.O_RDWR), 3)
result = {"escaped": True, "detail": "a result arrived without a channel"}
