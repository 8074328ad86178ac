import math

from .shapes import Acts, Color, Empty, NoData, Path, Point

FACTOR = 10


def scale(number, by=FACTOR):
    return helper(number) * by


def helper(number):
    return math.floor(number)


def middle(path: Path) -> Point:
    xs = [p.x for p in path.points]
    return Point(sum(xs) / len(xs), 0.0)


def walk(n):
    return Path(tuple(Point(i, i) for i in range(n)), ["walked"])


def nothing():
    return Empty()


def color():
    return Color.BLUE


def no_data():
    return NoData()


def acting():
    return Acts("/etc/passwd")


def fails(words):
    raise ValueError(words)


def hangs():
    while True:
        pass


def eats():
    return len(bytearray(4 << 30))


def quits(words):
    raise SystemExit(words)


def leaves(code):
    import os

    os._exit(code)


def looks_around():
    import os
    import socket

    seen = {"secret": os.environ.get("CORDON_TEST_SECRET"), "home": os.path.exists("/root/.pyenv/shims"), "cwd": os.getcwd()}
    for name, act in {
        "socket": lambda: socket.socket(),
        "fork": os.fork,
        "write": lambda: open("/etc/x", "w"),
    }.items():
        try:
            act()
            seen[name] = "done"
        except OSError as problem:
            seen[name] = type(problem).__name__
    return seen


def sends(data):
    """Gives back these bytes instead of a pickle, as hostile code can."""
    import pickle

    pickle.dumps = lambda *_, **__: data


def same(value):
    return value


def gives_a_generator():
    return (i for i in range(3))


def reads(path):
    with open(path) as file:
        return file.read()


def imports_late():
    from . import lazy

    return lazy.__name__
