# attack: find cordon's own frames on the stack, and change their names and functions
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:out_of_result outcome:raised outcome:exited outcome:signaled outcome:out_of_memory outcome:succeeded
# naked: no there is no channel without cordon

# Whatever happens to the guest's report, the host must get one or report that it got
# none, and the next guest must see no trace of this.
def broken(*args, **kwargs):
    raise ZeroDivisionError("broken by the guest")

space = own_space()
for name, value in list(space.items()):
    if callable(value) and name != "own_space":
        space[name] = broken
result = {"escaped": False, "detail": "all functions are broken"}
# --- next run ---
def odd(*args, **kwargs):
    return odd

space = own_space()
for name, value in list(space.items()):
    if not name.startswith("__"):
        space[name] = odd
result = odd
# --- next run ---
frame = sys._getframe()
while frame is not None:
    if frame.f_globals is own_space():
        frame.f_trace_opcodes = True
        frame.f_trace = lambda *a: 1 / 0
        frame.f_locals.clear()
    frame = frame.f_back
sys.settrace(lambda *a: 1 / 0)
sys.setprofile(lambda *a: 1 / 0)
result = {"escaped": False, "detail": "each step of cordon's own fails"}
# --- next run ---
own_space().clear()
result = {"escaped": False, "detail": "there is nothing left"}
# --- next run ---
def attempt():
    return own_space()["pack"].__name__ != "pack" and "cordon's functions are still those of the guest before"

result = judged(attempt)
