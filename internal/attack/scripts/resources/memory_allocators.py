# attack: grow past the memory limit through every kind of object that grows
# class: 7
# walls: rlimit cgroup
# limits: memory=64MiB wall_time=10s cpu_time=10s
# expect: held outcome:out_of_memory outcome:out_of_cpu outcome:timed_out

import array, io, itertools

MOST = 96 << 20

# Each kind grows alone, in steps that are small compared with the limit. The count is
# the interpreter's own.
def attempt():
    def growing(make, step):
        def route():
            thing = make()
            try:
                for n in itertools.count():
                    thing = step(thing, n) or thing
                    if sys.getsizeof(thing) > MOST:
                        return "holds %d MiB in a %s" % (sys.getsizeof(thing) >> 20, type(thing).__name__)
            except MemoryError:
                raise Held("MemoryError")
        return route
    block = b"x" * 65536
    def extend(thing, n):
        thing.extend(block)
    def append(thing, n):
        thing.frombytes(block)
    def write(thing, n):
        thing.write(block)
    def write_text(thing, n):
        thing.write("x" * 65536)
    def fill(thing, n):
        thing.update(dict.fromkeys(range(n * 4096, n * 4096 + 4096)))
    def add(thing, n):
        thing.update(range(n * 4096, n * 4096 + 4096))
    return any_of(
        growing(bytearray, extend), growing(lambda: array.array("b"), append), growing(list, extend), growing(io.BytesIO, write),
        growing(io.StringIO, write_text), growing(dict, fill), growing(set, add), growing(lambda: 1, lambda thing, n: thing << (1 << 25)),
        growing(str, lambda thing, n: thing + "\u1234" * (1 << 21)), growing(bytes, lambda thing, n: thing + block * 64),
        growing(tuple, lambda thing, n: thing + (None,) * (1 << 20)))

result = judged(attempt)
