# attack: find cordon's own objects through the garbage collector, and change them
# class: 14
# walls: environment pid seccomp
# limits: wall_time=2s
# expect: held outcome:invalid_output outcome:out_of_result outcome:raised outcome:exited outcome:signaled outcome:out_of_memory outcome:succeeded outcome:timed_out outcome:out_of_cpu
# naked: no there is no channel without cordon

import gc, types

# All functions of cordon get the code of a lying one; its objects lose their
# attributes; containers that refer to them are emptied.
def lie(*args, **kwargs):
    return b"lie"

gc.unfreeze()
space, changed = own_space(), 0
for thing in gc.get_objects():
    try:
        if isinstance(thing, types.FunctionType) and thing.__globals__ is space:
            thing.__code__ = lie.__code__
            thing.__defaults__ = (lie,) * 9
            changed += 1
        elif type(thing).__module__ in ("__cordon__", "cordon"):
            thing.__dict__.clear()
            thing.__class__ = type("Other", (), {"__getattr__": lie})
            changed += 1
    except (TypeError, AttributeError, ValueError):
        pass
result = {"escaped": False, "detail": "changed %d of them" % changed}
# --- next run ---
import gc

gc.unfreeze()
for holder in gc.get_referrers(own_space(), own_space()["pack"]):
    if isinstance(holder, (dict, list)) and holder is not globals():
        holder.clear()
result = {"escaped": False, "detail": "emptied what referred to them"}
# --- next run ---
import gc

gc.unfreeze()
gc.callbacks.append(lambda *a: os._exit(0))
gc.set_threshold(1)
for thing in gc.get_objects():
    if type(thing) is type and thing.__module__ in ("__cordon__", "cordon"):
        for name in list(vars(thing)):
            if callable(getattr(thing, name)):
                setattr(thing, name, None)
result = {"escaped": False, "detail": "their classes can do nothing"}
# --- next run ---
def attempt():
    return own_space()["pack"].__code__.co_name != "pack" and "the functions are still changed"

result = judged(attempt)
