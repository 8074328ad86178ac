# attack: keep a duplicate of the result's channel and write to it beside the interpreter
# class: 14
# walls: environment pid seccomp
# needs: threads
# expect: held outcome:invalid_output outcome:out_of_cpu outcome:timed_out
# limits: wall_time=2s
# naked: no there is no channel without cordon

import threading

def beside(*_):
    write_channel(b"\x00")

if sys.platform == "wasi":
    # There are no duplicates and no threads there, but a trace function can write before
    # each call and return of cordon's own code.
    sys.setprofile(beside)
else:
    other = os.dup(3)
    def write():
        try:
            while True:
                os.write(other, b"\x00")
        except OSError:
            pass
    start(threading.Thread(target=write, daemon=True))
result = {"escaped": False, "detail": "the other handle did no harm"}
