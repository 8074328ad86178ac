# attack: close the result's channel, or point it elsewhere
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:exited outcome:signaled outcome:raised outcome:succeeded
# limits: wall_time=3s
# naked: no there is no channel without cordon

if sys.platform == "wasi":
    # The channel is not a descriptor there: all descriptors are closed, and the function
    # that calls the host is removed.
    for fd in range(100):
        try:
            os.close(fd)
        except OSError:
            pass
    own_space()["_cordon"] = None
    result = {"escaped": False, "detail": "the host has a channel of its own"}
else:
    os.dup2(os.open("/dev/null", os.O_RDWR), 3)
    result = {"escaped": True, "detail": "a result arrived without a channel"}
