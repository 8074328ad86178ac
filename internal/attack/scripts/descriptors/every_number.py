# attack: write to, seek, truncate, duplicate, list and finally close every open descriptor
# class: 11
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:exited outcome:signaled outcome:timed_out outcome:succeeded outcome:denied
# limits: wall_time=5s output=64KiB
# naked: no it would write to whatever the tests have open

# The host sees a gain: a changed canary, or a run that does not end.
acts = [lambda fd: os.write(fd, b"\x00rubbish\xff" * 10), lambda fd: os.lseek(fd, 0, 0), lambda fd: os.ftruncate(fd, 0), lambda fd: os.pwrite(fd, b"x", 0),
        lambda fd: os.pread(fd, 10, 1 << 40), lambda fd: os.dup(fd), lambda fd: os.listdir(fd), lambda fd: os.fsync(fd), lambda fd: os.read(fd, 1),
        lambda fd: os.set_blocking(fd, False), lambda fd: os.utime(fd), lambda fd: os.set_inheritable(fd, True), lambda fd: os.close(fd)]
done = 0
for act in acts:
    for fd in [*range(101), 1 << 30, -1, 2**31 - 1]:
        try:
            act(fd)
            done += 1
        except (OSError, AttributeError, TypeError, OverflowError, NotImplementedError, ValueError):
            pass  # not every descriptor, nor every system, has all of them
result = {"escaped": False, "detail": "%d acts were allowed" % done}
