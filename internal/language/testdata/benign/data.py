#: json-custom-encoder
#: A JSONEncoder subclass, default= functions and object hooks with type tags.
import json
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, (date, datetime)):
            return {"__type__": "date", "value": o.isoformat()}
        if isinstance(o, Decimal):
            return {"__type__": "decimal", "value": str(o)}
        if isinstance(o, set):
            return {"__type__": "set", "items": sorted(o)}
        if isinstance(o, complex):
            return {"__class__": "complex", "re": o.real, "im": o.imag}
        return super().default(o)


def hook(d):
    kind = d.get("__type__")
    if kind == "date":
        return date.fromisoformat(d["value"])
    if kind == "decimal":
        return Decimal(d["value"])
    if kind == "set":
        return set(d["items"])
    if d.get("__class__") == "complex":
        return complex(d["re"], d["im"])
    return d


data = {"when": date(2024, 2, 29), "price": Decimal("9.90"), "tags": {"b", "a"}, "z": 1 + 2j}
text = json.dumps(data, cls=Encoder, sort_keys=True)
back = json.loads(text, object_hook=hook)
try:
    json.dumps({"f": Fraction(1, 2)}, cls=Encoder)
    error = None
except TypeError as e:
    error = type(e).__name__
result = [text, back == data, error, json.dumps([Fraction(1, 3)], default=str), json.dumps({"b": 1, "a": [1, 2]}, indent=1, sort_keys=True), json.dumps("é€", ensure_ascii=False), json.dumps({"x": 1}, separators=(",", ":"))]
#= ["{\"price\": {\"__type__\": \"decimal\", \"value\": \"9.90\"}, \"tags\": {\"__type__\": \"set\", \"items\": [\"a\", \"b\"]}, \"when\": {\"__type__\": \"date\", \"value\": \"2024-02-29\"}, \"z\": {\"__class__\": \"complex\", \"im\": 2.0, \"re\": 1.0}}", true, "TypeError", "[\"1/3\"]", "{\n \"a\": [\n  1,\n  2\n ],\n \"b\": 1\n}", "\"\u00e9\u20ac\"", "{\"x\":1}"]

#: json-parsing-variants
#: json.loads with pairs hooks, parse_float, error positions and streaming decode.
import json
from collections import OrderedDict
from decimal import Decimal


def unique(pairs):
    out = OrderedDict()
    for key, value in pairs:
        if key in out:
            raise ValueError(f"duplicate key {key!r}")
        out[key] = value
    return out


def documents(text):
    decoder, pos = json.JSONDecoder(), 0
    while pos < len(text):
        value, pos = decoder.raw_decode(text, pos)
        yield value
        while pos < len(text) and text[pos].isspace():
            pos += 1


exact = json.loads('{"price": 0.1}', parse_float=Decimal)
errors = []
for bad in ('{"a": 1, "a": 2}', '[1, 2,, 3]', "nope"):
    try:
        json.loads(bad, object_pairs_hook=unique)
    except json.JSONDecodeError as e:
        errors.append([e.lineno, e.colno, e.pos])
    except ValueError as e:
        errors.append(str(e))
result = [
    str(exact["price"] * 3),
    errors,
    list(documents('{"a": 1} [2, 3]\n"four" 5 null')),
    list(json.loads('{"z": 1, "a": 2}', object_pairs_hook=OrderedDict)),
    json.loads("[1e3, -0.5, true, null]"),
]
#= ["0.3", ["duplicate key 'a'", [1, 7, 6], [1, 1, 0]], [{"a": 1}, [2, 3], "four", 5, null], ["z", "a"], [1000.0, -0.5, true, null]]

#: json-deep-transform
#: Flattening, unflattening and path queries on nested JSON data.
import json

DOC = json.loads("""
{"shop": {"name": "Corner", "open": true, "items": [
    {"sku": "a1", "price": 3.5, "tags": ["new", "hot"]},
    {"sku": "b2", "price": 12.0, "tags": []}
]}, "version": 2}
""")


def flatten(value, prefix=""):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from flatten(v, f"{prefix}.{k}" if prefix else k)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from flatten(v, f"{prefix}[{i}]")
    else:
        yield prefix, value


def query(value, path):
    current = [value]
    for part in path.split("/"):
        nxt = []
        for node in current:
            if part == "*":
                nxt += list(node.values() if isinstance(node, dict) else node)
            elif isinstance(node, list):
                nxt.append(node[int(part)])
            elif part in node:
                nxt.append(node[part])
        current = nxt
    return current


def transform(value, function):
    if isinstance(value, dict):
        return {k: transform(v, function) for k, v in value.items()}
    if isinstance(value, list):
        return [transform(v, function) for v in value]
    return function(value)


flat = dict(flatten(DOC))
doubled = transform(DOC, lambda v: v * 2 if type(v) is float else v)
result = {"flat": flat, "skus": query(DOC, "shop/items/*/sku"), "first": query(DOC, "shop/items/0/tags/*"), "prices": query(doubled, "shop/items/*/price"), "same": json.loads(json.dumps(DOC)) == DOC}
#= {"flat": {"shop.name": "Corner", "shop.open": true, "shop.items[0].sku": "a1", "shop.items[0].price": 3.5, "shop.items[0].tags[0]": "new", "shop.items[0].tags[1]": "hot", "shop.items[1].sku": "b2", "shop.items[1].price": 12.0, "version": 2}, "skus": ["a1", "b2"], "first": ["new", "hot"], "prices": [7.0, 24.0], "same": true}

#: group-and-aggregate
#: Grouping, joining and pivoting lists of dictionaries.
from collections import defaultdict, Counter
from itertools import groupby
from operator import itemgetter
from statistics import mean, median

sales = [
    {"day": 1, "rep": "ann", "region": "n", "amount": 120},
    {"day": 1, "rep": "bob", "region": "s", "amount": 80},
    {"day": 2, "rep": "ann", "region": "n", "amount": 60},
    {"day": 2, "rep": "cy", "region": "s", "amount": 200},
    {"day": 3, "rep": "bob", "region": "s", "amount": 40},
]
reps = [{"rep": "ann", "team": "red"}, {"rep": "bob", "team": "blue"}, {"rep": "dee", "team": "red"}]

by_region = {k: [r["amount"] for r in g] for k, g in groupby(sorted(sales, key=itemgetter("region")), key=itemgetter("region"))}
stats = {k: {"sum": sum(v), "mean": mean(v), "median": median(v)} for k, v in by_region.items()}
teams = {r["rep"]: r["team"] for r in reps}
joined = [{**s, "team": teams.get(s["rep"], "?")} for s in sales]
per_team = Counter()
for row in joined:
    per_team[row["team"]] += row["amount"]
pivot = defaultdict(lambda: defaultdict(int))
for s in sales:
    pivot[s["rep"]][s["day"]] += s["amount"]
running, totals = 0, []
for day, rows in groupby(sales, key=itemgetter("day")):
    running += sum(map(itemgetter("amount"), rows))
    totals.append((day, running))
result = {
    "stats": stats,
    "teams": per_team.most_common(),
    "pivot": {k: dict(v) for k, v in pivot.items()},
    "totals": totals,
    "without_sales": sorted(set(teams) - {s["rep"] for s in sales}),
    "top": sorted(sales, key=itemgetter("amount"), reverse=True)[0]["rep"],
}
#= {"stats": {"n": {"sum": 180, "mean": 90, "median": 90.0}, "s": {"sum": 320, "mean": 106.66666666666667, "median": 80}}, "teams": [["?", 200], ["red", 180], ["blue", 120]], "pivot": {"ann": {"1": 120, "2": 60}, "bob": {"1": 80, "3": 40}, "cy": {"2": 200}}, "totals": [[1, 200], [2, 460], [3, 500]], "without_sales": ["dee"], "top": "cy"}

#: statistics-report
#: The statistics module: means, spread, quantiles, modes and a normal distribution.
import statistics as st

scores = [88, 92, 79, 93, 85, 92, 70, 64, 99, 85, 92]


def zscores(xs):
    m, s = st.mean(xs), st.pstdev(xs)
    return [round((x - m) / s, 2) for x in xs]


def histogram(xs, step=10):
    bins = {}
    for x in xs:
        low = x // step * step
        bins.setdefault(low, []).append(x)
    return [f"{low:>3}-{low + step - 1}: {'#' * len(bins[low])}" for low in sorted(bins)]


nd = st.NormalDist(mu=100, sigma=15)
try:
    st.mean([])
    error = None
except st.StatisticsError:
    error = "empty"
result = {
    "mean": round(st.mean(scores), 3),
    "median": [st.median(scores), st.median_low([1, 2, 3, 4]), st.median_high([1, 2, 3, 4])],
    "mode": [st.mode(scores), st.multimode("aabbc")],
    "spread": [round(st.stdev(scores), 3), round(st.pvariance(scores), 3)],
    "quartiles": st.quantiles(scores, n=4),
    "means": [round(st.harmonic_mean([40, 60]), 3), round(st.geometric_mean([1, 10, 100]), 3), st.fmean([1, 2, 4])],
    "iq": [round(nd.cdf(130), 4), round(nd.inv_cdf(0.5), 3), round((nd + 5).mean, 1)],
    "z": zscores(scores)[:3],
    "histogram": histogram(scores),
    "error": error,
}
#= {"mean": 85.364, "median": [88, 2, 3], "mode": [92, ["a", "b"]], "spread": [10.567, 101.504], "quartiles": [79.0, 88.0, 92.0], "means": [48.0, 10.0, 2.3333333333333335], "iq": [0.9772, 100.0, 105.0], "z": [0.26, 0.66, -0.63], "histogram": [" 60-69: #", " 70-79: ##", " 80-89: ###", " 90-99: #####"], "error": "empty"}

#: linear-regression
#: Least squares by hand, compared with the statistics functions.
#: since 3.10
from statistics import correlation, covariance, linear_regression, mean

years = [2018, 2019, 2020, 2021, 2022, 2023]
users = [10, 14, 19, 25, 29, 36]


def fit(xs, ys):
    mx, my = mean(xs), mean(ys)
    slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum((x - mx) ** 2 for x in xs)
    return slope, my - slope * mx


slope, intercept = fit(years, users)
line = linear_regression(years, users)
residuals = [round(y - (slope * x + intercept), 2) for x, y in zip(years, users)]
try:
    list(zip([1, 2], [1], strict=True))
    strict = None
except ValueError:
    strict = "length differs"
result = [round(slope, 4), abs(slope - line.slope) < 1e-9, abs(intercept - line.intercept) < 1e-6, round(correlation(years, users), 4), round(covariance(years, users), 3), residuals, round(slope * 2024 + intercept), strict]
#= [5.1714, true, true, 0.997, 18.1, [0.76, -0.41, -0.58, 0.25, -0.92, 0.9], 40, "length differs"]

#: decimal-finance
#: Decimal contexts, rounding modes, loan schedules and traps.
from decimal import Decimal, getcontext, localcontext, ROUND_HALF_UP, ROUND_DOWN, ROUND_HALF_EVEN, InvalidOperation, DivisionByZero, Inexact

getcontext().prec = 50
third = Decimal(1) / Decimal(3)
root = Decimal(2).sqrt()


def cents(x, rounding=ROUND_HALF_UP):
    return Decimal(x).quantize(Decimal("0.01"), rounding=rounding)


def schedule(principal, yearly, months):
    rate = Decimal(yearly) / 12 / 100
    payment = cents(principal * rate / (1 - (1 + rate) ** -months))
    balance, rows = Decimal(principal), []
    for month in range(1, months + 1):
        interest = cents(balance * rate)
        part = min(payment - interest, balance)
        balance -= part
        rows.append((month, str(interest), str(part), str(balance)))
    return payment, rows


with localcontext() as ctx:
    ctx.prec = 5
    short = Decimal(1) / 7
payment, rows = schedule(1000, "12", 6)
problems = []
for f in (lambda: Decimal("x"), lambda: Decimal(1) / 0):
    try:
        f()
    except (InvalidOperation, DivisionByZero) as e:
        problems.append(type(e).__name__)
result = {
    "third": str(third),
    "root": str(root),
    "short": str(short),
    "rounding": [str(cents("2.675", r)) for r in (ROUND_HALF_UP, ROUND_DOWN, ROUND_HALF_EVEN)],
    "payment": str(payment),
    "last": rows[-1],
    "exact": str(Decimal("0.1") + Decimal("0.2")),
    "tuple": [list(Decimal("-1.25").as_tuple()), Decimal("1E+3").normalize().to_eng_string()],
    "problems": problems,
}
#= {"third": "0.33333333333333333333333333333333333333333333333333", "root": "1.4142135623730950488016887242096980785696718753769", "short": "0.14286", "rounding": ["2.68", "2.67", "2.68"], "payment": "172.55", "last": [6, "1.71", "170.82", "0.00"], "exact": "0.3", "tuple": [[1, [1, 2, 5], -2], "1E+3"], "problems": ["InvalidOperation", "DivisionByZero"]}

#: fractions-and-continued
#: Exact fractions: Egyptian sums, continued fractions and limits.
from fractions import Fraction
from math import gcd, lcm


def egyptian(f):
    out = []
    while f:
        d = -(-f.denominator // f.numerator)
        out.append(d)
        f -= Fraction(1, d)
    return out


def continued(f):
    out = []
    while True:
        whole, f = divmod(f, 1)
        out.append(int(whole))
        if not f:
            return out
        f = 1 / f


def rebuild(terms):
    value = Fraction(terms[-1])
    for t in reversed(terms[:-1]):
        value = t + 1 / value
    return value


harmonic = sum(Fraction(1, k) for k in range(1, 11))
pi = Fraction("3.14159265")
result = [str(harmonic), egyptian(Fraction(4, 13)), continued(Fraction(415, 93)), str(rebuild([4, 2, 6, 7])), str(pi.limit_denominator(1000)), str(Fraction(0.75)), Fraction(1, 3) < 0.34, float(Fraction(1, 8)), str(Fraction("2/6") ** 2), gcd(84, 36), lcm(4, 6, 10), str(round(Fraction(22, 7), 2))]
#= ["7381/2520", [4, 18, 468], [4, 2, 6, 7], "415/93", "355/113", "3/4", true, 0.125, "1/9", 12, 60, "157/50"]

#: table-joins-sql-like
#: A tiny query builder with method chaining over lists of rows.
class Query:
    def __init__(self, rows):
        self._rows = rows
        self._steps = []

    def _with(self, step):
        new = Query(self._rows)
        new._steps = self._steps + [step]
        return new

    def where(self, predicate=None, **equals):
        def check(row):
            return (predicate is None or predicate(row)) and all(row.get(k) == v for k, v in equals.items())

        return self._with(lambda rows: filter(check, rows))

    def select(self, *names, **computed):
        def project(row):
            out = {n: row[n] for n in names}
            out.update((k, f(row)) for k, f in computed.items())
            return out

        return self._with(lambda rows: map(project, rows))

    def order_by(self, name, desc=False):
        return self._with(lambda rows: sorted(rows, key=lambda r: r[name], reverse=desc))

    def limit(self, n):
        return self._with(lambda rows: (r for _, r in zip(range(n), rows)))

    def join(self, other, on):
        def run(rows):
            index = {}
            for r in other:
                index.setdefault(r[on], []).append(r)
            for r in rows:
                for match in index.get(r[on], ()):
                    yield {**match, **r}

        return self._with(run)

    def __iter__(self):
        rows = iter(self._rows)
        for step in self._steps:
            rows = step(rows)
        return iter(rows)

    def all(self):
        return list(self)


users = [{"uid": 1, "name": "ann"}, {"uid": 2, "name": "bob"}]
orders = [{"uid": 1, "total": 30}, {"uid": 2, "total": 5}, {"uid": 1, "total": 12}, {"uid": 3, "total": 99}]
base = Query(orders).join(users, on="uid")
result = {
    "big": base.where(lambda r: r["total"] > 10).order_by("total").select("name", "total").all(),
    "bob": base.where(name="bob").select(vat=lambda r: r["total"] * 0.2).all(),
    "top": [r["total"] for r in Query(orders).order_by("total", desc=True).limit(2)],
    "reused": len(base.all()),
}
#= {"big": [{"name": "ann", "total": 12}, {"name": "ann", "total": 30}], "bob": [{"vat": 1.0}], "top": [99, 30], "reused": 3}

#: time-series
#: Moving averages, resampling and gap filling of a daily series.
from collections import deque
from datetime import date, timedelta
from itertools import accumulate
from statistics import mean

raw = {"2024-01-01": 10, "2024-01-02": 12, "2024-01-05": 20, "2024-01-06": 16, "2024-01-08": 30}
series = {date.fromisoformat(k): v for k, v in raw.items()}


def days(start, stop):
    while start <= stop:
        yield start
        start += timedelta(days=1)


def fill(series):
    out, last = {}, None
    for day in days(min(series), max(series)):
        last = series.get(day, last)
        out[day] = last
    return out


def moving(values, n):
    window = deque(maxlen=n)
    for v in values:
        window.append(v)
        if len(window) == n:
            yield round(mean(window), 2)


filled = fill(series)
weekly = {}
for day, value in filled.items():
    weekly.setdefault("W%02d" % day.isocalendar()[1], []).append(value)
values = list(filled.values())
changes = [f"{b - a:+d}" for a, b in zip(values, values[1:])]
result = {"filled": values, "moving": list(moving(values, 3)), "weekly": {k: sum(v) for k, v in weekly.items()}, "max_so_far": list(accumulate(values, max)), "changes": changes, "weekday": max(series, key=series.get).strftime("%A")}
#= {"filled": [10, 12, 12, 12, 20, 16, 16, 30], "moving": [11.33, 12, 14.67, 16, 17.33, 20.67], "weekly": {"W01": 98, "W02": 30}, "max_so_far": [10, 12, 12, 12, 20, 20, 20, 30], "changes": ["+2", "+0", "+0", "+8", "-4", "+0", "+14"], "weekday": "Monday"}

#: schema-validation
#: Validates nested data against a schema and reports every problem with its path.
SCHEMA = {
    "name": {"type": str, "min": 2},
    "age": {"type": int, "min": 0, "max": 150},
    "email": {"type": str, "check": lambda s: "@" in s, "message": "not an address"},
    "tags": {"type": list, "items": {"type": str}},
    "home": {"type": dict, "fields": {"city": {"type": str}, "zip": {"type": str, "optional": True}}},
}


def validate(value, rule, path="$"):
    kind = rule["type"]
    if type(value) is not kind:
        yield f"{path}: expected {kind.__name__}, got {type(value).__name__}"
        return
    size = len(value) if isinstance(value, (str, list, dict)) else value
    if "min" in rule and size < rule["min"]:
        yield f"{path}: less than {rule['min']}"
    if "max" in rule and size > rule["max"]:
        yield f"{path}: more than {rule['max']}"
    if "check" in rule and not rule["check"](value):
        yield f"{path}: {rule.get('message', 'invalid')}"
    for i, item in enumerate(value if "items" in rule else ()):
        yield from validate(item, rule["items"], f"{path}[{i}]")
    if "fields" in rule:
        yield from validate_fields(value, rule["fields"], path)


def validate_fields(value, fields, path="$"):
    for name, rule in fields.items():
        if name not in value:
            if not rule.get("optional"):
                yield f"{path}.{name}: missing"
        else:
            yield from validate(value[name], rule, f"{path}.{name}")
    for name in value.keys() - fields.keys():
        yield f"{path}.{name}: unknown"


good = {"name": "Ann", "age": 30, "email": "a@b", "tags": ["x"], "home": {"city": "Ulm"}}
bad = {"name": "A", "age": True, "email": "nope", "tags": ["x", 3], "home": {"zip": "1"}, "extra": 1}
result = [list(validate_fields(good, SCHEMA)), sorted(validate_fields(bad, SCHEMA))]
#= [[], ["$.age: expected int, got bool", "$.email: not an address", "$.extra: unknown", "$.home.city: missing", "$.name: less than 2", "$.tags[1]: expected str, got int"]]
