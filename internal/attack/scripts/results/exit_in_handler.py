# attack: fail in an exit handler, a finalizer or a hook, after the result was set
# class: 14
# walls: environment pid seccomp
# expect: outcome:exited outcome:raised outcome:signaled outcome:invalid_output
# naked: no the harness has no exit code to judge

import atexit

atexit.register(os._exit, 5)
result = {"escaped": True, "detail": "a run that failed was reported as a success"}
# --- next run ---
import atexit

atexit.register(os.abort)
result = {"escaped": True, "detail": "a run that crashed was reported as a success"}
# --- next run ---
class Leaving:
    def __del__(self):
        os._exit(5)

del sys.modules["__main__"].__dict__["result"]
sys.excepthook = sys.unraisablehook = lambda *a: os._exit(0)
result = Leaving()
raise SystemExit(5)
# --- next run ---
result = {"escaped": True, "detail": "an interrupted run was reported as a success"}
raise KeyboardInterrupt
# --- next run ---
result = {"escaped": True, "detail": "a run that was left by a generator was reported as a success"}
raise GeneratorExit
