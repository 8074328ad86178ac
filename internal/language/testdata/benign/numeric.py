#: math-tour
#: The math and cmath modules in small numeric tasks.
#: until 3.13
import math
import cmath


def solve(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    roots = [(-b + d) / (2 * a), (-b - d) / (2 * a)]
    return [[round(r.real, 6), round(r.imag, 6)] for r in roots]


def haversine(p, q, radius=6371):
    (lat1, lon1), (lat2, lon2) = (map(math.radians, x) for x in (p, q))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * radius * math.asin(math.sqrt(h))


def newton(f, x, eps=1e-12, limit=100):
    for n in range(limit):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        step = f(x) / slope
        x -= step
        if abs(step) < eps:
            return x, n
    raise ArithmeticError("no convergence")


def simpson(f, a, b, n=100):
    h = (b - a) / n
    return h / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2) * f(a + i * h) for i in range(n + 1))


def dft(xs):
    n = len(xs)
    return [sum(x * cmath.exp(-2j * cmath.pi * k * i / n) for i, x in enumerate(xs)) for k in range(n)]


result = {
    "roots": [solve(1, -3, 2), solve(1, 2, 5)],
    "distance": round(haversine((52.52, 13.405), (48.8566, 2.3522))),
    "sqrt2": round(newton(lambda x: x * x - 2, 1)[0], 10),
    "integral": round(simpson(math.sin, 0, math.pi), 6),
    "dft": [round(abs(c), 6) for c in dft([1, 0, -1, 0])],
    "counts": [math.comb(10, 3), math.perm(5, 2), math.factorial(20), math.gcd(48, 18), math.isqrt(10 ** 20)],
    "rounding": [math.floor(-2.5), math.ceil(-2.5), math.trunc(-2.5), round(2.5), round(-3.567, 2)],
    "special": [math.inf > 10 ** 308, math.isnan(math.nan), math.isclose(0.1 + 0.2, 0.3), math.copysign(1, -0.0)],
    "fsum": [math.fsum([1e100, 1.0, -1e100]), math.fsum([0.1] * 10), math.prod([1, 2, 3, 4])],
    "polar": [round(v, 4) for v in cmath.polar(1 + 1j)],
}
#= {"roots": [[[2.0, 0.0], [1.0, 0.0]], [[-1.0, 2.0], [-1.0, -2.0]]], "distance": 877, "sqrt2": 1.4142135624, "integral": 2.0, "dft": [0.0, 2.0, 0.0, 2.0], "counts": [120, 20, 2432902008176640000, 6, 10000000000], "rounding": [-3, -2, -2, 2, -3.57], "special": [true, true, true, -1.0], "fsum": [1.0, 1.0, 24], "polar": [1.4142, 0.7854]}

#: big-integers
#: Big integers: factorials, modular powers, primality and digit sums.
import math


def is_prime(n):
    if n < 2:
        return False
    for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if n % p == 0:
            return n == p
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def egcd(a, b):
    if not b:
        return a, 1, 0
    g, x, y = egcd(b, a % b)
    return g, y, x - a // b * y


def crt(pairs):
    n = math.prod(m for _, m in pairs)
    return sum(r * (n // m) * pow(n // m, -1, m) for r, m in pairs) % n


p, q, e = 2 ** 61 - 1, 2 ** 89 - 1, 65537
n, phi = p * q, (p - 1) * (q - 1)
d = pow(e, -1, phi)
message = int.from_bytes(b"hi there", "big")
cipher = pow(message, e, n)
plain = pow(cipher, d, n)
result = [
    [k for k in range(2, 128) if is_prime(2 ** k - 1)],
    sum(map(int, str(math.factorial(100)))),
    len(str(2 ** 4423)),
    plain.to_bytes(8, "big").decode(),
    egcd(240, 46),
    crt([(2, 3), (3, 5), (2, 7)]),
    str(7 ** 77)[-10:],
    int("zz", 36),
    (10 ** 30).bit_length(),
    divmod(-7, 3),
    -7 // 2,
    10 ** 20 // 3 ** 10,
]
#= [[2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127], 648, 1332, "hi there", [2, -9, 47], 23, "8287039207", 1295, 100, [-3, 2], -4, 1693508780843028]

#: random-seeded
#: Seeded random numbers: shuffles, samples, choices, walks and a Monte Carlo estimate.
import random


class Dice:
    def __init__(self, seed):
        self._rng = random.Random(seed)

    def roll(self, spec):
        count, _, sides = spec.partition("d")
        return sum(self._rng.randint(1, int(sides)) for _ in range(int(count or 1)))


def monte_carlo(n, seed=1):
    rng = random.Random(seed)
    return 4 * sum(rng.random() ** 2 + rng.random() ** 2 <= 1 for _ in range(n)) / n


def weighted(rng, table):
    return rng.choices(list(table), weights=table.values(), k=5)


rng = random.Random(42)
deck = [r + s for s in "SH" for r in "A23"]
rng.shuffle(deck)
again = random.Random(42)
copy = [r + s for s in "SH" for r in "A23"]
again.shuffle(copy)
state = rng.getstate()
first = [rng.randrange(100) for _ in range(3)]
rng.setstate(state)
second = [rng.randrange(100) for _ in range(3)]
random.seed(7)
dice = Dice(3)
result = {
    "same": deck == copy,
    "deck": sorted(deck),
    "replay": first == second,
    "numbers": [round(random.Random(0).random(), 6), random.Random(5).randint(1, 6)],
    "roll": 3 <= dice.roll("3d6") <= 18,
    "pi": abs(monte_carlo(20000) - 3.14159) < 0.05,
    "weighted": set(weighted(rng, {"a": 1, "b": 0})) == {"a"},
    "sample": len(set(rng.sample(range(100), 10))),
    "range": all(1.5 <= rng.uniform(1.5, 2) <= 2 for _ in range(100)),
    "module": 0 <= random.random() < 1 and random.choice("xyz") in "xyz",
    "gauss": abs(sum(rng.gauss(10, 2) for _ in range(2000)) / 2000 - 10) < 0.5,
}
#= {"same": true, "deck": ["2H", "2S", "3H", "3S", "AH", "AS"], "replay": true, "numbers": [0.844422, 5], "roll": true, "pi": true, "weighted": true, "sample": 10, "range": true, "module": true, "gauss": true}

#: linear-algebra
#: Gaussian elimination with fractions, inverse, determinant and least squares.
from fractions import Fraction as F
from functools import reduce


def dot(u, v):
    return sum(a * b for a, b in zip(u, v))


def transpose(m):
    return [list(c) for c in zip(*m)]


def matmul(a, b):
    return [[dot(r, c) for c in transpose(b)] for r in a]


def gauss(m):
    m = [[F(x) for x in row] for row in m]
    n, sign = len(m), 1
    for col in range(n):
        pivot = next((r for r in range(col, n) if m[r][col]), None)
        if pivot is None:
            raise ZeroDivisionError("singular matrix")
        if pivot != col:
            m[col], m[pivot] = m[pivot], m[col]
            sign = -sign
        lead = m[col][col]
        sign *= lead
        m[col] = [x / lead for x in m[col]]
        for r in range(n):
            if r != col and m[r][col]:
                factor = m[r][col]
                m[r] = [x - factor * y for x, y in zip(m[r], m[col])]
    return m, sign


def solve(a, b):
    reduced, _ = gauss([row + [v] for row, v in zip(a, b)])
    return [row[-1] for row in reduced]


def inverse(a):
    n = len(a)
    reduced, det = gauss([row + [int(i == j) for j in range(n)] for i, row in enumerate(a)])
    return [row[n:] for row in reduced], det


A = [[0, 2, 1], [1, -2, -3], [-1, 1, 2]]
inv, det = inverse(A)
try:
    inverse([[1, 2], [2, 4]])
    singular = None
except ZeroDivisionError as e:
    singular = str(e)
xs, ys = [1, 2, 3, 4], [6, 5, 7, 10]
design = [[1, x] for x in xs]
coefficients = solve(matmul(transpose(design), design), [dot(c, ys) for c in transpose(design)])
result = [[str(x) for x in solve(A, [-8, 0, 3])], str(det), matmul(A, inv) == [[1, 0, 0], [0, 1, 0], [0, 0, 1]], singular, [str(c) for c in coefficients], reduce(matmul, [[[1, 1], [1, 0]]] * 10)[0][1]]
#= [["-4", "-5", "2"], "1", true, "singular matrix", ["7/2", "7/5"], 55]

#: unit-conversion
#: Physical quantities with dimensions, unit parsing and errors for mismatches.
import re
from collections import Counter


class Quantity:
    UNITS = {"m": (1, {"L": 1}), "km": (1000, {"L": 1}), "s": (1, {"T": 1}), "h": (3600, {"T": 1}), "kg": (1, {"M": 1}), "g": (0.001, {"M": 1}), "N": (1, {"M": 1, "L": 1, "T": -2})}

    def __init__(self, value, dims):
        self.value = value
        self.dims = {k: v for k, v in dims.items() if v}

    @classmethod
    def parse(cls, text):
        m = re.fullmatch(r"\s*(?P<n>[-+\d.e]+)\s*(?P<units>[\w/*^-]*)\s*", text)
        if m is None:
            raise ValueError(f"cannot read {text!r}")
        value, dims, sign = float(m["n"]), Counter(), 1
        for part in re.findall(r"[*/]|[A-Za-z]+(?:\^-?\d+)?", m["units"]):
            if part in "*/":
                sign = -1 if part == "/" else 1
                continue
            name, _, power = part.partition("^")
            power = sign * int(power or 1)
            factor, unit = cls.UNITS[name]
            value *= factor ** power
            for k, v in unit.items():
                dims[k] += v * power
        return cls(value, dims)

    def __mul__(self, other):
        other = other if isinstance(other, Quantity) else Quantity(other, {})
        dims = Counter(self.dims)
        dims.update(other.dims)
        return Quantity(self.value * other.value, dims)

    __rmul__ = __mul__

    def __pow__(self, n):
        return Quantity(self.value ** n, {k: v * n for k, v in self.dims.items()})

    def __truediv__(self, other):
        return self * other ** -1

    def __add__(self, other):
        if self.dims != other.dims:
            raise TypeError(f"cannot add {self.unit} and {other.unit}")
        return Quantity(self.value + other.value, self.dims)

    @property
    def unit(self):
        return "*".join(f"{k}^{v}" if v != 1 else k for k, v in sorted(self.dims.items())) or "1"

    def __str__(self):
        return f"{self.value:g} {self.unit}"


q = Quantity.parse
try:
    q("3 m") + q("2 s")
    error = None
except TypeError as e:
    error = str(e)
result = [str(q("36 km/h")), str(q("10 N") / q("2 kg")), str(2 * q("500 g") + q("1 kg")), str(q("3 m") ** 2), str(q("6 m") / q("2 m")), error]
#= ["10 L*T^-1", "5 L*T^-2", "2 M", "9 L^2", "3 1", "cannot add L and T"]
