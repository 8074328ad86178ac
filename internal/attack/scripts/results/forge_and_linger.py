# attack: claim success on the result's channel, then keep running
# class: 14
# walls: pid seccomp environment
# needs: syscall
# limits: wall_time=2s
# expect: held outcome:invalid_output outcome:timed_out outcome:signaled
# naked: no there is no channel without cordon

import marshal, time

# A guest may report any value: it could have computed it. But the host decides its end:
# the guest must be gone when the run is reported.
try:
    libc().prctl(15, context["marker"].encode(), 0, 0, 0)
except (Missing, Absent):
    pass
value = {"escaped": False, "detail": "the forged end was taken for the end, and was one"}
payload = marshal.dumps({"end": "ok", "code": 0, "value": value}, 2)
forge(payload)
time.sleep(3600)
result = None
