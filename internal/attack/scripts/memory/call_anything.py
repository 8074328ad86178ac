# attack: call every function by its number, through an object with a forged type
# class: 13
# walls: pid seccomp uid rlimit
# needs: memory
# limits: wall_time=5s
# expect: held outcome:signaled outcome:timed_out outcome:out_of_cpu outcome:raised outcome:out_of_memory outcome:exited outcome:invalid_output
# naked: no a crash affects only the script

# A type is a table of functions. On WebAssembly these are numbers, and calls are
# checked: a call traps unless a function with that number has the same type.
def fake(number):
    kind = struct.pack("nP", 1 << 20, id(type)) + struct.pack("P", number) * 200
    thing = struct.pack("nPn", 1 << 20, data_of(kind), 0)
    _kept.extend((kind, thing))
    return object_at(data_of(thing))

for number in (0xFFFFFFF0, 1 << 20):
    result = fake(number)
    repr(result)
result = {"escaped": sys.platform == "wasi", "detail": "called functions that do not exist"}
# --- next run ---
def fake(number):
    kind = struct.pack("nP", 1 << 20, id(type)) + struct.pack("P", number) * 200
    thing = struct.pack("nPn", 1 << 20, data_of(kind), 0)
    _kept.extend((kind, thing))
    return object_at(data_of(thing))

for number in range(1, 100000):
    for call in (repr, hash, iter, len, str):
        try:
            call(fake(number))
        except Exception:
            pass
result = {"escaped": False, "detail": "called them all"}
# --- next run ---
result = {"escaped": sum(range(10)) != 45, "detail": "the next one finds all in order"}
