# attack: keep the host busy with denied system calls
# class: 18
# walls: seccomp
# limits: wall_time=5s
# expect: held outcome:denied outcome:timed_out outcome:out_of_cpu
# naked: no there is no host to keep busy

import socket

for _ in range(20000):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    except OSError:
        pass
result = {"escaped": False, "detail": "20000 calls were refused"}
