#: sorting-algorithms
#: Hand-written sorts compared with sorted on the same data.
import random


def quicksort(xs):
    if len(xs) <= 1:
        return xs
    pivot, rest = xs[0], xs[1:]
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort([x for x in rest if x >= pivot])


def merge_sort(xs, key=lambda x: x):
    if len(xs) < 2:
        return list(xs)
    mid = len(xs) // 2
    left, right, out = merge_sort(xs[:mid], key), merge_sort(xs[mid:], key), []
    while left and right:
        out.append((right if key(right[0]) < key(left[0]) else left).pop(0))
    return out + left + right


def insertion_sort(xs):
    xs = xs[:]
    for i in range(1, len(xs)):
        x, j = xs[i], i
        while j and xs[j - 1] > x:
            xs[j] = xs[j - 1]
            j -= 1
        xs[j] = x
    return xs


def counting_sort(xs):
    counts = [0] * (max(xs) + 1)
    for x in xs:
        counts[x] += 1
    return [x for x, n in enumerate(counts) for _ in range(n)]


def radix_sort(xs, base=10):
    place = 1
    while any(x // place for x in xs):
        buckets = [[] for _ in range(base)]
        for x in xs:
            buckets[x // place % base].append(x)
        xs = [x for b in buckets for x in b]
        place *= base
    return xs


rng = random.Random(11)
data = [rng.randrange(1000) for _ in range(200)]
want = sorted(data)
sorts = (quicksort, merge_sort, insertion_sort, counting_sort, radix_sort)
words = ["bb", "a", "cc", "b", "aa"]
result = [{f.__name__: f(data) == want for f in sorts}, merge_sort(words, key=len), quicksort([]), want == data]
#= [{"quicksort": true, "merge_sort": true, "insertion_sort": true, "counting_sort": true, "radix_sort": true}, ["a", "b", "bb", "cc", "aa"], [], false]

#: graph-class
#: A weighted graph with Dijkstra, topological order, components and spanning tree.
from collections import defaultdict, deque


class Graph:
    def __init__(self, edges=(), directed=False):
        self._adj = defaultdict(dict)
        self.directed = directed
        for a, b, *w in edges:
            self.add(a, b, *w)

    def add(self, a, b, weight=1):
        self._adj[a][b] = weight
        back = self._adj[b]
        if not self.directed:
            back[a] = weight

    def __contains__(self, node):
        return node in self._adj

    def __iter__(self):
        return iter(self._adj)

    def __getitem__(self, node):
        return self._adj[node]

    def shortest(self, start, goal):
        best, previous, todo = {start: 0}, {}, {start}
        while todo:
            node = min(todo, key=best.get)
            todo.remove(node)
            if node == goal:
                break
            for nxt, w in self[node].items():
                if (d := best[node] + w) < best.get(nxt, float("inf")):
                    best[nxt], previous[nxt] = d, node
                    todo.add(nxt)
        path = [goal]
        while path[-1] != start:
            path.append(previous[path[-1]])
        return best[goal], path[::-1]

    def components(self):
        seen, out = set(), []
        for start in self:
            if start in seen:
                continue
            todo, group = deque([start]), []
            while todo:
                node = todo.popleft()
                if node not in seen:
                    seen.add(node)
                    group.append(node)
                    todo.extend(self[node])
            out.append(sorted(group))
        return out

    def topological(self):
        degree = {n: 0 for n in self}
        for n in self:
            for m in self[n]:
                degree[m] += 1
        ready, out = sorted(n for n in degree if not degree[n]), []
        while ready:
            n = ready.pop(0)
            out.append(n)
            for m in sorted(self[n]):
                degree[m] -= 1
                if not degree[m]:
                    ready.append(m)
        if len(out) < len(degree):
            raise ValueError("cycle")
        return out

    def spanning(self):
        parent = {n: n for n in self}

        def find(n):
            while parent[n] != n:
                parent[n] = n = parent[parent[n]]
            return n

        total = 0
        for w, a, b in sorted((w, a, b) for a in self for b, w in self[a].items() if a < b):
            if (ra := find(a)) != (rb := find(b)):
                parent[ra] = rb
                total += w
        return total


roads = Graph([("a", "b", 4), ("a", "c", 1), ("c", "b", 2), ("b", "d", 5), ("x", "y", 1)])
steps = Graph([("shirt", "tie"), ("tie", "jacket"), ("trousers", "shoes"), ("trousers", "jacket")], directed=True)
try:
    Graph([(1, 2), (2, 1)], directed=True).topological()
    cycle = None
except ValueError as e:
    cycle = str(e)
result = [roads.shortest("a", "d"), roads.components(), steps.topological(), cycle, roads.spanning(), "a" in roads, "z" in roads]
#= [[8, ["a", "c", "b", "d"]], [["a", "b", "c", "d"], ["x", "y"]], ["shirt", "trousers", "tie", "shoes", "jacket"], "cycle", 9, true, false]

#: a-star-grid
#: A* on a grid with a priority list and node objects with f_score.
GRID = """
S.#.....
..#.###.
.##.#...
....#.#.
.##...#G
""".split()


class Node:
    __slots__ = ("pos", "parent", "g_score", "f_score")

    def __init__(self, pos, parent, g_score, h):
        self.pos, self.parent = pos, parent
        self.g_score = g_score
        self.f_score = g_score + h

    def path(self):
        node, out = self, []
        while node:
            out.append(node.pos)
            node = node.parent
        return out[::-1]


def find(grid, what):
    return next((r, row.index(what)) for r, row in enumerate(grid) if what in row)


def neighbours(grid, pos):
    r, c = pos
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        nr, nc = r + dr, c + dc
        if 0 <= nr < len(grid) and 0 <= nc < len(grid[nr]) and grid[nr][nc] != "#":
            yield nr, nc


def astar(grid):
    start, goal = find(grid, "S"), find(grid, "G")
    h = lambda p: abs(p[0] - goal[0]) + abs(p[1] - goal[1])
    queue, closed = [Node(start, None, 0, h(start))], set()
    while queue:
        queue.sort(key=lambda n: (-n.f_score, n.g_score))
        node = queue.pop()
        if node.pos == goal:
            return node, len(closed)
        if node.pos in closed:
            continue
        closed.add(node.pos)
        queue += [Node(p, node, node.g_score + 1, h(p)) for p in neighbours(grid, node.pos) if p not in closed]
    return None, len(closed)


goal, visited = astar(GRID)
path = goal.path()
drawn = [list(row) for row in GRID]
for r, c in path[1:-1]:
    drawn[r][c] = "*"
result = [goal.g_score, path[0], path[-1], visited < 30, ["".join(row) for row in drawn]]
#= [15, [0, 0], [4, 7], true, ["S.#.....", "*.#.###.", "*##.#***", "****#*#*", ".##***#G"]]

#: dynamic-programming
#: Knapsack, longest common subsequence, coins, partitions and Catalan numbers with memo tables.
from functools import lru_cache


def knapsack(items, capacity):
    best = [(0, ())] * (capacity + 1)
    for name, weight, value in items:
        for c in range(capacity, weight - 1, -1):
            v, names = best[c - weight]
            best[c] = max(best[c], (v + value, names + (name,)), key=lambda t: t[0])
    return best[capacity]


def lcs(a, b):
    table = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i][j] = table[i - 1][j - 1] + x if x == y else max(table[i - 1][j], table[i][j - 1], key=len)
    return table[-1][-1]


def coins(amount, kinds=(1, 2, 5, 10, 20, 50)):
    ways = [1] + [0] * amount
    for coin in kinds:
        for a in range(coin, amount + 1):
            ways[a] += ways[a - coin]
    return ways[amount]


memo = {}


def partitions(n, largest=None):
    largest = n if largest is None else largest
    if n == 0:
        return 1
    key = n, largest
    if key not in memo:
        memo[key] = sum(partitions(n - k, min(k, n - k)) for k in range(1, largest + 1))
    return memo[key]


@lru_cache(None)
def catalan(n):
    return 1 if n == 0 else sum(catalan(i) * catalan(n - 1 - i) for i in range(n))


def lis(xs):
    chains = []
    for i, x in enumerate(xs):
        best = max((c for c in chains if c[-1] < x), key=len, default=[])
        chains.append(best + [x])
    return max(chains, key=len)


result = [knapsack([("map", 9, 150), ("water", 15, 200), ("rope", 20, 160), ("torch", 5, 60)], 30), lcs("AGGTABQXY", "GXTXAYBXY"), coins(100), partitions(40), [catalan(i) for i in range(8)], lis([10, 9, 2, 5, 3, 7, 101, 18])]
#= [[410, ["map", "water", "torch"]], "GTABXY", 4562, 37338, [1, 1, 2, 5, 14, 42, 132, 429], [2, 5, 7, 101]]

#: backtracking-puzzles
#: N queens, sudoku, permutations and subset sums by backtracking.
def queens(n, placed=()):
    if len(placed) == n:
        yield placed
        return
    row = len(placed)
    for col in range(n):
        if all(col != c and abs(col - c) != row - r for r, c in enumerate(placed)):
            yield from queens(n, placed + (col,))


def sudoku(board):
    def options(r, c):
        used = {board[r][k] for k in range(4)} | {board[k][c] for k in range(4)}
        br, bc = r // 2 * 2, c // 2 * 2
        used |= {board[i][j] for i in range(br, br + 2) for j in range(bc, bc + 2)}
        return {1, 2, 3, 4} - used

    for r in range(4):
        for c in range(4):
            if not board[r][c]:
                for value in sorted(options(r, c)):
                    board[r][c] = value
                    if sudoku(board):
                        return True
                board[r][c] = 0
                return False
    return True


def subsets(numbers, target, chosen=[]):
    if target == 0:
        return [chosen]
    if not numbers or target < 0:
        return []
    first, *rest = numbers
    return subsets(rest, target - first, chosen + [first]) + subsets(rest, target, chosen)


def hanoi(n, a="A", b="B", c="C"):
    return [] if n == 0 else hanoi(n - 1, a, c, b) + [a + c] + hanoi(n - 1, b, a, c)


board = [[1, 0, 0, 0], [0, 0, 3, 0], [0, 4, 0, 0], [0, 0, 0, 2]]
solved = sudoku(board)
result = [sum(1 for _ in queens(7)), list(next(queens(8))), solved, board, subsets([3, 34, 4, 12, 5, 2], 9), len(hanoi(10)), hanoi(2)]
#= [40, [0, 4, 7, 5, 2, 6, 1, 3], true, [[1, 3, 2, 4], [4, 2, 3, 1], [2, 4, 1, 3], [3, 1, 4, 2]], [[3, 4, 2], [4, 5]], 1023, ["AB", "AC", "BC"]]

#: trie-and-autocomplete
#: A trie with insertion, prefixes, deletion and wildcard search.
class Trie:
    def __init__(self):
        self.children = {}
        self.count = 0

    def add(self, word):
        node = self
        for ch in word:
            node = node.children.setdefault(ch, Trie())
        node.count += 1

    def _find(self, prefix):
        node = self
        for ch in prefix:
            node = node.children.get(ch)
            if node is None:
                return None
        return node

    def __contains__(self, word):
        node = self._find(word)
        return bool(node and node.count)

    def words(self, prefix=""):
        if self.count:
            yield prefix, self.count
        for ch in sorted(self.children):
            yield from self.children[ch].words(prefix + ch)

    def complete(self, prefix, limit=3):
        node = self._find(prefix)
        found = sorted(node.words(prefix), key=lambda p: (-p[1], p[0])) if node else []
        return [w for w, _ in found[:limit]]

    def match(self, pattern):
        if not pattern:
            return [""] if self.count else []
        head, rest = pattern[0], pattern[1:]
        letters = self.children if head == "?" else [head] if head in self.children else []
        return [ch + tail for ch in sorted(letters) for tail in self.children[ch].match(rest)]

    def remove(self, word):
        if not word:
            self.count = 0
        elif word[0] in self.children:
            child = self.children[word[0]]
            child.remove(word[1:])
            if not child.count and not child.children:
                del self.children[word[0]]


t = Trie()
for w in "car cart care cat car dog dot car cat do".split():
    t.add(w)
before = t.complete("ca")
t.remove("cart")
t.remove("dog")
result = [before, t.complete("ca"), t.match("?o?"), t.match("ca?"), "cart" in t, "do" in t, [w for w, _ in t.words()], t.complete("zz")]
#= [["car", "cat", "care"], ["car", "cat", "care"], ["dot"], ["car", "cat"], false, true, ["car", "care", "cat", "do", "dot"], []]

#: life-and-cellular
#: Conway's game of life on a set of cells, and rule 30.
from collections import Counter

GLIDER = """
.#.
..#
###
"""


def parse(text):
    return {(x, y) for y, line in enumerate(text.split()) for x, ch in enumerate(line) if ch == "#"}


def step(cells):
    counts = Counter((x + dx, y + dy) for x, y in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
    return {c for c, n in counts.items() if n == 3 or n == 2 and c in cells}


def show(cells):
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    return ["".join(".#"[(x, y) in cells] for x in range(min(xs), max(xs) + 1)) for y in range(min(ys), max(ys) + 1)]


def rule(number, width, steps):
    row = [0] * width
    row[width // 2] = 1
    for _ in range(steps):
        yield "".join(" #"[c] for c in row)
        row = [number >> (row[i - 1] << 2 | row[i] << 1 | row[(i + 1) % width]) & 1 for i in range(width)]


cells = parse(GLIDER)
generation = cells
for _ in range(4):
    generation = step(generation)
blinker = {(0, 0), (1, 0), (2, 0)}
result = [generation == {(x + 1, y + 1) for x, y in cells}, show(generation), step(step(blinker)) == blinker, sorted(step(blinker)), list(rule(30, 11, 4))]
#= [true, [".#.", "..#", "###"], true, [[1, -1], [1, 0], [1, 1]], ["     #     ", "    ###    ", "   ##  #   ", "  ## ####  "]]

#: text-index-search
#: An inverted index with ranking, boolean queries and snippets.
import math
import re
from collections import Counter, defaultdict


class Index:
    TOKEN = re.compile(r"\w+")

    def __init__(self):
        self.docs = {}
        self.postings = defaultdict(Counter)

    def tokens(self, text):
        return [t.lower().rstrip("s") for t in self.TOKEN.findall(text)]

    def add(self, id, text):
        self.docs[id] = text
        for token in self.tokens(text):
            self.postings[token][id] += 1

    def search(self, query, limit=2):
        scores = Counter()
        for token in self.tokens(query):
            hits = self.postings.get(token, {})
            if hits:
                idf = math.log(1 + len(self.docs) / len(hits))
                for id, tf in hits.items():
                    scores[id] += tf * idf
        return [(id, round(s, 3)) for id, s in scores.most_common(limit)]

    def all_of(self, *words):
        sets = [set(self.postings.get(w, ())) for w in words]
        return sorted(set.intersection(*sets)) if sets else []

    def snippet(self, id, word, width=8):
        m = re.search(re.escape(word), self.docs[id], re.IGNORECASE)
        if not m:
            return ""
        lo, hi = max(0, m.start() - width), m.end() + width
        return self.docs[id][lo:m.start()] + "[" + m.group() + "]" + self.docs[id][m.end():hi]


index = Index()
index.add(1, "Sandboxes keep guests inside walls")
index.add(2, "A wall is not a sandbox, walls are only walls")
index.add(3, "Guests like sand and boxes")
result = [index.search("walls and guests"), index.all_of("guest", "wall"), index.snippet(2, "sandbox"), index.search("nothing"), len(index.postings)]
#= [[[2, 2.749], [3, 2.303]], [1], "s not a [sandbox], walls ", [], 15]
