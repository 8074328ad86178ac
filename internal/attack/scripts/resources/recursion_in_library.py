# attack: recurse in the library: pickle, deepcopy, re, ast, json, marshal, hash, isinstance, str.format
# class: 16
# walls: rlimit cgroup
# limits: wall_time=8s cpu_time=8s memory=128MiB
# expect: held outcome:signaled outcome:out_of_memory outcome:raised outcome:malformed outcome:timed_out outcome:out_of_cpu
# naked: no a crash affects only the script

import ast, copy, json, marshal, pickle, re

sys.setrecursionlimit(10**6)

def nested(make, depth):
    thing = make(None)
    for _ in range(depth):
        thing = make(thing)
    return thing

class Chain:
    def __init__(self, to):
        self.to = to
    def __getattr__(self, name):
        return getattr(self.to, name)
    def __hash__(self):
        return hash(self.to)

class Endless:
    def __getattr__(self, name):
        return getattr(self, name + "x")
    def __format__(self, spec):
        return format(self, spec)
    def __call__(self):
        return self()
    def __index__(self):
        return [0][self]

acts = [
    lambda: pickle.dumps(nested(lambda t: [t], 100000)), lambda: copy.deepcopy(nested(lambda t: [t], 20000)),
    lambda: re.compile("(" * 20000 + ")" * 20000), lambda: ast.parse("(" * 5000 + ")" * 5000), lambda: ast.literal_eval("[" * 50000),
    lambda: json.loads("[" * 200000), lambda: marshal.loads(b"[\x01\x00\x00\x00" * 100000), lambda: marshal.dumps(nested(lambda t: (t,), 100000)),
    lambda: hash(nested(lambda t: (t,), 100000)), lambda: hash(nested(Chain, 50000)), lambda: isinstance(1, nested(lambda t: (t, int) if t else (str,), 100000)),
    lambda: Endless().name, lambda: "{}".format(Endless()), lambda: Endless()(), lambda: [0][Endless()],
    lambda: eval("1" + "+1" * 100000), lambda: eval("x" + ".x" * 50000, {"x": 1}), lambda: exec("if 1:" + "\n if 1:" * 100),
]
for act in acts:
    try:
        act()
    except (RecursionError, MemoryError, ValueError, SyntaxError, AttributeError, TypeError, EOFError, OverflowError):
        pass
result = {"escaped": False, "detail": "exceptions ended it"}
