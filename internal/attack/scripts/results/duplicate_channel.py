# attack: keep a second handle on the result's channel and write beside the interpreter
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
    # Nothing can be duplicated there, and nothing runs beside: but each call and
    # return of cordon's own code can be made to write first.
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
