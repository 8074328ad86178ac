# attack: send the host invalid reports: of other types, empty, huge, and exceptions of every kind
# class: 14
# walls: environment pid seccomp
# limits: memory=256MiB
# expect: held outcome:invalid_output outcome:raised outcome:exited outcome:signaled outcome:out_of_memory outcome:succeeded
# naked: no there is no channel without cordon

own_space()["pack"] = lambda report: 5
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: None
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: 'text'
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: bytearray(b'N')
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: b''
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: b'N'
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: b'{' + b'0' * 1000
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: b'x' * (80 << 20)
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: memoryview(b'{0')
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
own_space()["pack"] = lambda report: object()
result = {"escaped": False, "detail": "a report that is none"}
# --- next run ---
def leave(report):
    raise SystemExit(0)

own_space()["pack"] = leave
result = {"escaped": False, "detail": "an exception for a report"}
# --- next run ---
def leave(report):
    raise SystemExit(5)

own_space()["pack"] = leave
result = {"escaped": False, "detail": "an exception for a report"}
# --- next run ---
def leave(report):
    raise KeyboardInterrupt()

own_space()["pack"] = leave
result = {"escaped": False, "detail": "an exception for a report"}
# --- next run ---
def leave(report):
    raise GeneratorExit()

own_space()["pack"] = leave
result = {"escaped": False, "detail": "an exception for a report"}
# --- next run ---
def leave(report):
    raise MemoryError()

own_space()["pack"] = leave
result = {"escaped": False, "detail": "an exception for a report"}
# --- next run ---
def leave(report):
    raise RecursionError()

own_space()["pack"] = leave
result = {"escaped": False, "detail": "an exception for a report"}
# --- next run ---
def leave(report):
    raise OSError(3)

own_space()["pack"] = leave
result = {"escaped": False, "detail": "an exception for a report"}
