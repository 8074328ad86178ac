# attack: ask for far too much memory in one call of the interpreter
# class: 7
# walls: rlimit cgroup
# limits: memory=64MiB
# expect: held outcome:out_of_memory

def attempt():
    def route(make):
        def call():
            try:
                return "made %d items" % len(make())
            except MemoryError as e:
                raise Held("MemoryError")
        return call
    return any_of(route(lambda: "a" * (512 << 20)), route(lambda: [0] * (64 << 20)), route(lambda: "%536870912d" % 1))

result = judged(attempt)
