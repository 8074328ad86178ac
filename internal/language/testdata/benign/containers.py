#: counters-and-deques
#: Counter arithmetic and deques as queues, windows and rotations.
from collections import Counter, deque

stock = Counter(apple=5, pear=2)
stock.update({"apple": 3, "fig": 1})
stock.subtract(Counter(pear=3))
votes = Counter("abracadabra")
queue = deque(["a", "b", "c"], maxlen=4)
queue.append("d")
queue.append("e")
queue.appendleft("z")
queue.rotate(1)


def josephus(n, k):
    ring, out = deque(range(1, n + 1)), []
    while ring:
        ring.rotate(1 - k)
        out.append(ring.popleft())
    return out


def tail(lines, n):
    return list(deque(lines, maxlen=n))


def bfs(grid, start, goal):
    todo, seen = deque([(start, 0)]), {start}
    while todo:
        (r, c), d = todo.popleft()
        if (r, c) == goal:
            return d
        for nr, nc in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if 0 <= nr < len(grid) and 0 <= nc < len(grid[0]) and grid[nr][nc] != "#" and (nr, nc) not in seen:
                seen.add((nr, nc))
                todo.append(((nr, nc), d + 1))
    return None


maze = ["..#.", ".##.", "...."]
result = {
    "stock": dict(stock),
    "positive": dict(+stock),
    "votes": votes.most_common(2),
    "ops": [dict(Counter(a=3) + Counter(a=1, b=2)), dict(Counter(a=3) & Counter(a=1)), dict(Counter(a=1) | Counter(b=2))],
    "queue": list(queue),
    "josephus": josephus(7, 3),
    "tail": tail("one two three".split(), 2),
    "bfs": [bfs(maze, (0, 0), (0, 3)), bfs(["#.", ".#"], (0, 1), (1, 0))],
}
#= {"stock": {"apple": 8, "pear": -1, "fig": 1}, "positive": {"apple": 8, "fig": 1}, "votes": [["a", 5], ["b", 2]], "ops": [{"a": 4, "b": 2}, {"a": 1}, {"a": 1, "b": 2}], "queue": ["d", "z", "b", "c"], "josephus": [3, 6, 2, 7, 5, 1, 4], "tail": ["two", "three"], "bfs": [7, null]}

#: dict-variants
#: defaultdict, OrderedDict, ChainMap and dict methods.
from collections import defaultdict, OrderedDict, ChainMap

index = defaultdict(set)
for number, line in enumerate(["a b", "b c", "c c"], 1):
    for word in line.split():
        index[word].add(number)

tree = lambda: defaultdict(tree)
root = tree()
root["usr"]["lib"]["x"] = 1
root["usr"]["bin"] = 2


def plain(d):
    return {k: plain(v) for k, v in d.items()} if isinstance(d, defaultdict) else d


recent = OrderedDict.fromkeys("abc")
recent.move_to_end("a")
recent["d"] = 1
oldest = recent.popitem(last=False)[0]

defaults, user, session = {"theme": "light", "size": 10}, {"size": 12}, {}
settings = ChainMap(session, user, defaults)
settings["theme"] = "dark"
scoped = settings.new_child({"size": 99})

grades = {"ann": 1, "bob": 3, "cy": 2}
inverted = {v: k for k, v in grades.items()}
merged = {**grades, "dee": 4} | {"bob": 5}
grades.setdefault("eve", 6)
popped = grades.pop("zed", None)
views = [sorted(grades.keys() & {"ann", "zed"}), sorted(grades.keys() - merged.keys())]
result = {
    "index": {k: sorted(v) for k, v in index.items()},
    "tree": plain(root),
    "recent": [oldest, list(recent)],
    "settings": [settings["theme"], settings["size"], scoped["size"], scoped.parents["size"], session, len(settings.maps)],
    "inverted": inverted[2],
    "merged": merged,
    "popped": popped,
    "views": views,
    "sorted": sorted(grades, key=grades.get, reverse=True)[:2],
    "missing": len(index["none"]),
}
#= {"index": {"a": [1], "b": [1, 2], "c": [2, 3]}, "tree": {"usr": {"lib": {"x": 1}, "bin": 2}}, "recent": ["b", ["c", "a", "d"]], "settings": ["dark", 12, 99, 12, {"theme": "dark"}, 3], "inverted": "cy", "merged": {"ann": 1, "bob": 5, "cy": 2, "dee": 4}, "popped": null, "views": [["ann"], ["eve"]], "sorted": ["eve", "bob"], "missing": 0}

#: user-containers
#: UserDict, UserList and UserString subclasses.
from collections import UserDict, UserList, UserString


class BoundedDict(UserDict):
    def __init__(self, limit, *args, **kwargs):
        self.limit = limit
        super().__init__(*args, **kwargs)

    def __setitem__(self, key, value):
        if key not in self.data and len(self.data) >= self.limit:
            raise OverflowError(f"more than {self.limit} keys")
        super().__setitem__(str(key), value)

    def __contains__(self, key):
        return str(key) in self.data


class Playlist(UserList):
    def append(self, item):
        if item not in self.data:
            super().append(item)

    def total(self):
        return sum(len(x) for x in self.data)


class Title(UserString):
    def initials(self):
        return "".join(w[0] for w in self.data.split())

    def __add__(self, other):
        return Title(self.data + " " + str(other))


d = BoundedDict(2, {"a": 1})
d[5] = 2
try:
    d["c"] = 3
    error = None
except OverflowError as e:
    error = str(e)
p = Playlist(["x"])
for song in ("yy", "x", "zzz"):
    p.append(song)
t = Title("lord of") + "the rings"
result = [d.data, 5 in d, error, p.data, p.total(), (p + ["w"]).data, t.initials(), t.upper().data, len(t), p[1:].data, d.get("zz", "-")]
#= [{"a": 1, "5": 2}, true, "more than 2 keys", ["x", "yy", "zzz"], 6, ["x", "yy", "zzz", "w"], "lotr", "LORD OF THE RINGS", 17, ["yy", "zzz"], "-"]

#: priority-queue-by-hand
#: A binary heap with keys, sorted iteration and a running median.
class Heap:
    def __init__(self, items=(), key=lambda x: x):
        self._key = key
        self._data = []
        for item in items:
            self.push(item)

    def push(self, item):
        self._data.append(item)
        self._up(len(self._data) - 1)

    def pop(self):
        if not self._data:
            raise IndexError("empty heap")
        data = self._data
        data[0], data[-1] = data[-1], data[0]
        item = data.pop()
        self._down(0)
        return item

    def _less(self, i, j):
        return self._key(self._data[i]) < self._key(self._data[j])

    def _swap(self, i, j):
        self._data[i], self._data[j] = self._data[j], self._data[i]

    def _up(self, i):
        while i and self._less(i, parent := (i - 1) // 2):
            self._swap(i, parent)
            i = parent

    def _down(self, i):
        n = len(self._data)
        while True:
            best = i
            for child in (2 * i + 1, 2 * i + 2):
                if child < n and self._less(child, best):
                    best = child
            if best == i:
                return
            self._swap(i, best)
            i = best

    def __len__(self):
        return len(self._data)

    def __bool__(self):
        return bool(self._data)

    def __iter__(self):
        copy = type(self)(self._data, self._key)
        while copy:
            yield copy.pop()


jobs = Heap([(3, "c"), (1, "a"), (2, "b")])
jobs.push((0, "first"))
longest = Heap("fig apple kiwi banana".split(), key=lambda w: -len(w))
running = []
low, high = Heap(key=lambda x: -x), Heap()
for x in [5, 15, 1, 3, 8]:
    low.push(x)
    high.push(low.pop())
    if len(high) > len(low):
        low.push(high.pop())
    running.append(low._data[0])
result = [[jobs.pop()[1] for _ in range(3)], len(jobs), list(longest), len(longest), list(Heap([5, 3, 9, 1])), running]
#= [["first", "a", "b"], 1, ["banana", "apple", "kiwi", "fig"], 4, [1, 3, 5, 9], [5, 5, 5, 3, 5]]

#: bisect-by-hand
#: Sorted list with binary search, ranges and grades.
class SortedList:
    def __init__(self, items=()):
        self._items = sorted(items)

    def left(self, x):
        lo, hi = 0, len(self._items)
        while lo < hi:
            mid = (lo + hi) // 2
            if self._items[mid] < x:
                lo = mid + 1
            else:
                hi = mid
        return lo

    def right(self, x):
        lo, hi = 0, len(self._items)
        while lo < hi:
            mid = (lo + hi) // 2
            if x < self._items[mid]:
                hi = mid
            else:
                lo = mid + 1
        return lo

    def add(self, x):
        self._items.insert(self.right(x), x)

    def discard(self, x):
        i = self.left(x)
        if i < len(self._items) and self._items[i] == x:
            del self._items[i]
            return True
        return False

    def count(self, x):
        return self.right(x) - self.left(x)

    def between(self, a, b):
        return self._items[self.left(a):self.right(b)]

    def __contains__(self, x):
        return self.count(x) > 0

    def __getitem__(self, i):
        return self._items[i]

    def __len__(self):
        return len(self._items)


def grade(score, limits=SortedList([60, 70, 80, 90]), letters="FDCBA"):
    return letters[limits.right(score)]


s = SortedList([5, 1, 4, 4, 9])
s.add(4)
s.add(0)
removed = [s.discard(9), s.discard(7)]
result = [s[:], s.count(4), s.between(1, 4), 5 in s, 6 in s, removed, s[-1], len(s), [grade(x) for x in (33, 60, 77, 89, 90, 100)]]
#= [[0, 1, 4, 4, 4, 5], 3, [1, 4, 4, 4], true, false, [true, false], 5, 6, ["F", "D", "C", "B", "A", "A"]]

#: sets-and-tuples
#: Set algebra, tuples as keys, sorting with several keys and named slices.
CHARS = {"a": {1, 2, 3}, "b": {2, 3, 4}, "c": {3, 5}}
common = set.intersection(*CHARS.values())
union = set().union(*CHARS.values())
lonely = {x for x in union if sum(x in s for s in CHARS.values()) == 1}
board = {(x, y): "." for x in range(3) for y in range(2)}
board[1, 1] = "X"
people = [("Ann", 30, "Ulm"), ("bob", 25, "Bonn"), ("Cy", 30, "Aachen"), ("dee", 25, "Ulm")]
NAME, AGE, CITY = range(3)
DATE = slice(0, 10)
line = "2024-05-06 hello"
ordered = sorted(people, key=lambda p: (-p[AGE], p[NAME].lower()))
stable = sorted(sorted(people, key=lambda p: p[CITY]), key=lambda p: p[AGE])
numbers = list(range(10))
numbers[2:5] = ["x"]
del numbers[-2:]
numbers[::2] = [0] * len(numbers[::2])
result = {
    "common": sorted(common),
    "lonely": sorted(lonely),
    "symmetric": sorted({1, 2} ^ {2, 3}),
    "subset": [{1} <= {1, 2}, {1, 2} < {1, 2}, {3}.isdisjoint({4})],
    "board": ["".join(board[x, y] for x in range(3)) for y in range(2)],
    "ordered": [p[NAME] for p in ordered],
    "stable": [p[NAME] for p in stable],
    "date": line[DATE],
    "numbers": numbers,
    "frozen": len({frozenset("ab"), frozenset("ba"), frozenset("c")}),
    "compare": (1, 2, 3) < (1, 2, 4) and [1] < [1, 0] and "Z" < "a",
    "step": "abcdefgh"[::-2],
}
#= {"common": [3], "lonely": [1, 4, 5], "symmetric": [1, 3], "subset": [true, false, true], "board": ["...", ".X."], "ordered": ["Ann", "Cy", "bob", "dee"], "stable": ["bob", "dee", "Cy", "Ann"], "date": "2024-05-06", "numbers": [0, 1, 0, 5, 0, 7], "frozen": 2, "compare": true, "step": "hfdb"}
