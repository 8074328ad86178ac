#: format-str-format
#: str.format with positions, names, indexes, attributes, conversions and nested specs.
class Player:
    def __init__(self, name, pos, stats):
        self.name = name
        self.pos = pos
        self.stats = stats

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"<Player {self.name}>"


p = Player("Ann", (3, 4), {"hp": 17, "mana": 4.5})
rows = [("apple", 1.5, 3), ("fig", 12.25, 10)]
result = [
    "{} {} {}".format(1, "two", 3.0),
    "{1} before {0}".format("egg", "hen"),
    "{name} is {age:d} years".format(name="Bob", age=42),
    "{0.name} at {0.pos[0]},{0.pos[1]}".format(p),
    "{p.stats[hp]:>5}|{p.stats[mana]:<6.2f}|".format(p=p),
    "{0[key]} and {0[other]}".format({"key": "value", "other": 2}),
    "{0!s} {0!r}".format(p),
    "{:{w}.{prec}f}".format(3.14159, w=10, prec=2),
    "{:*^{width}}".format("mid", width=9),
    "{:,} {:_} {:+} {:%}".format(1234567, 1234567, 5, 0.125),
    "{:#x} {:#o} {:#b} {:e}".format(255, 8, 5, 12345.678),
    "{{literal}} {}".format("braces"),
    ["{:<8}{:>7.2f}{:>4d}".format(*row) for row in rows],
    "{a}{b}".format(**{"a": 1, "b": 2}),
    "{:>{}}".format("x", 4),
    "body {{ color: {c}; }}".format(c="red"),
]
#= ["1 two 3.0", "hen before egg", "Bob is 42 years", "Ann at 3,4", "   17|4.50  |", "value and 2", "Ann <Player Ann>", "      3.14", "***mid***", "1,234,567 1_234_567 +5 12.500000%", "0xff 0o10 0b101 1.234568e+04", "{literal} braces", ["apple      1.50   3", "fig       12.25  10"], "12", "   x", "body { color: red; }"]

#: format-percent
#: Percent formatting with tuples, mappings, widths and precision.
items = {"name": "Widget", "price": 4.5, "qty": 12}
lines = []
for name, price in [("tea", 2.5), ("coffee", 3.333), ("cake", 10)]:
    lines.append("%-10s|%8.2f|" % (name, price))


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    def __str__(self):
        return "%.1f C" % self.degrees


result = [
    lines,
    "%(name)s costs %(price).2f, %(qty)05d left" % items,
    "%d%% of %s" % (75, "users"),
    "%x %X %o %e %g" % (255, 255, 8, 1234.5, 0.00001),
    "%+d %+d % d" % (3, -3, 7),
    "%*d|%-*d|" % (6, 42, 6, 42),
    "%.3s|%10.2s|" % ("abcdef", "xyz"),
    "%r %s" % ("it's", Celsius(21.55)),
    "%c%c" % (72, "i"),
    "%s" % [1, 2],
    "%s %s" % ("a", (1, 2)),
    b"%s-%d" % (b"raw", 7) == b"raw-7",
]
#= [["tea       |    2.50|", "coffee    |    3.33|", "cake      |   10.00|"], "Widget costs 4.50, 00012 left", "75% of users", "ff FF 10 1.234500e+03 1e-05", "+3 -3  7", "    42|42    |", "abc|        xy|", "\"it's\" 21.6 C", "Hi", "[1, 2]", "a (1, 2)", true]

#: format-f-strings
#: f-strings with nested specs, debugging form, conversions, calls and lambdas.
import math
from datetime import date, timedelta

width, precision, value = 12, 3, math.pi
name, items = "inventory", ["rope", "torch", "map"]
day = date(2024, 2, 28)
table = {"a": 1, "b": {"c": [10, 20]}}


def percent(part, whole):
    return f"{part / whole:.1%}"


result = [
    f"{value:{width}.{precision}f}|",
    f"{name!r:>15}",
    f"{width = }, {precision=}",
    f"{value = :.2f}",
    f"{'yes' if items else 'no'} {len(items)} {', '.join(items)}",
    f"{table['b']['c'][1]:>{width // 2}d}",
    f"{day:%Y-%m-%d} -> {day + timedelta(days=2):%d.%m.%y}",
    f"{percent(1, 8)} {(lambda x: x * 2)(21)}",
    f"{{literal}} {1234567.891:,.2f} {255:#06x} {5:03b}",
    f"{'nested ' + f'{value:.1f}'}",
    f"{[i ** 2 for i in range(4)]} {({1, 2} & {2, 3})}",
    f"{name:-^21}" f"{items[-1]!s:.2}",
    rf"\d+{width}",
    f"""multi
{width}""",
    f"{True!s} {None} {3.0} {1e20} {-0.0}",
]
#= ["       3.142|", "    'inventory'", "width = 12, precision=3", "value = 3.14", "yes 3 rope, torch, map", "    20", "2024-02-28 -> 01.03.24", "12.5% 42", "{literal} 1,234,567.89 0x00ff 101", "nested 3.1", "[0, 1, 4, 9] {2}", "------inventory------ma", "\\d+12", "multi\n12", "True None 3.0 1e+20 -0.0"]

#: format-new-f-strings
#: f-strings with reused quotes, backslashes and comments inside.
#: since 3.12
songs = ["Take me back", "Alive", "Gravity"]
data = {"title": "Top", "n": 3}
result = [
    f"Playlist: {", ".join(songs)}",
    f"{data["title"]}-{data["n"]:03d}",
    f"{"\n".join(songs)}",
    f"{
        sum(len(s) for s in songs)  # letters in all
    } letters",
    f"{f"{f"{1 + 1}"}"}",
]
#= ["Playlist: Take me back, Alive, Gravity", "Top-003", "Take me back\nAlive\nGravity", "24 letters", "2"]

#: format-format-map
#: format_map with defaults for missing keys and a lazy mapping.
class Default(dict):
    def __missing__(self, key):
        return "{" + key + "}"


class Lazy:
    def __init__(self, **makers):
        self.makers = makers
        self.used = []

    def __getitem__(self, key):
        self.used.append(key)
        return self.makers[key]()


template = "Dear {title} {name}, your order {order} of {total:.2f} is {state}."
partial = template.format_map(Default(title="Dr", name="Who", total=12.5))
lazy = Lazy(a=lambda: 6 * 7, b=lambda: "never", c=lambda: [1, 2])
text = "{a} {c[1]}".format_map(lazy)
try:
    template.format_map({"title": "Dr"})
    error = None
except KeyError as e:
    error = e.args[0]
final = partial.format_map({"order": 17, "state": "sent"})
result = [partial, final, text, lazy.used, error]
#= ["Dear Dr Who, your order {order} of 12.50 is {state}.", "Dear Dr Who, your order 17 of 12.50 is sent.", "42 2", ["a", "c"], "name"]

#: format-template
#: string.Template with substitute, safe_substitute and an own delimiter.
from string import Template


class PercentTemplate(Template):
    delimiter = "%"
    idpattern = r"[a-z][_a-z0-9]*"


mail = Template("Hi $who,\nyou owe $$${amount}${unit}.\n-- $sender")
values = {"who": "Bob", "amount": 12, "unit": "k"}
errors = []
try:
    mail.substitute(values)
except KeyError as e:
    errors.append(f"missing {e}")
try:
    Template("bad $ sign").substitute()
except ValueError as e:
    errors.append(str(e))
result = [mail.safe_substitute(values), mail.substitute(values, sender="Ann"), errors, PercentTemplate("%name is 100%% %adj").substitute(name="it", adj="fine"), mail.template.count("$")]
#= ["Hi Bob,\nyou owe $12k.\n-- $sender", "Hi Bob,\nyou owe $12k.\n-- Ann", ["missing 'sender'", "Invalid placeholder in string: line 1, col 5"], "it is 100% fine", 6]

#: format-formatter-subclass
#: A string.Formatter subclass with defaults and extra conversions.
import string


class ReportFormatter(string.Formatter):
    def __init__(self, missing="n/a"):
        super().__init__()
        self.missing = missing

    def get_value(self, key, args, kwargs):
        if isinstance(key, str):
            return kwargs.get(key, self.missing)
        return super().get_value(key, args, kwargs)

    def convert_field(self, value, conversion):
        if conversion == "u":
            return str(value).upper()
        if conversion == "l":
            return str(value).lower()
        return super().convert_field(value, conversion)

    def format_field(self, value, spec):
        if spec == "money":
            return f"${value:,.2f}"
        if spec.startswith("x"):
            return str(value) * int(spec[1:])
        return super().format_field(value, spec)


fmt = ReportFormatter()
parsed = [(text, field, spec) for text, field, spec, _ in string.Formatter().parse("a {x:>3} b {y}")]
result = [
    fmt.format("{name!u}: {price:money}", name="lamp", price=1234.5),
    fmt.format("{0} {1!l} {unknown}", "A", "B"),
    fmt.format("{c:x3}|{n:>6.1f}|{d[k]}", c="ab", n=2.25, d={"k": 9}),
    fmt.vformat("{a}-{b}", (), {"a": 1}),
    parsed,
    string.capwords("the quick fox"),
    string.ascii_lowercase[:5] + string.digits[-2:] + string.hexdigits[-3:],
]
#= ["LAMP: $1,234.50", "A b n/a", "ababab|   2.2|9", "1-n/a", [["a ", "x", ">3"], [" b ", "y", ""]], "The Quick Fox", "abcde89DEF"]

#: format-dunder-format
#: Own __format__ codes on classes, the format builtin and aligned tables.
class Duration:
    def __init__(self, seconds):
        self.seconds = seconds

    def __format__(self, spec):
        h, rest = divmod(self.seconds, 3600)
        m, s = divmod(rest, 60)
        if spec == "short":
            return f"{h}h{m:02d}"
        if spec == "long":
            return f"{h} hours {m} minutes {s} seconds"
        return format(f"{h:02d}:{m:02d}:{s:02d}", spec)


class Table:
    def __init__(self, header, *, align="<"):
        self.header, self.rows, self.align = header, [], align

    def add(self, *row):
        self.rows.append([str(c) for c in row])
        return self

    def render(self):
        columns = list(zip(self.header, *self.rows))
        widths = [max(map(len, c)) for c in columns]
        line = lambda cells: " | ".join(f"{c:{self.align}{w}}" for c, w in zip(cells, widths))
        return "\n".join([line(self.header), "-+-".join("-" * w for w in widths), *map(line, self.rows)])


d = Duration(3725)
t = Table(["what", "time"]).add("build", format(d)).add("test all", f"{d:short}")
result = [f"{d}", f"{d:short} {d:long}", format(d, ">12"), "{:^14}|{:short}".format(d, d), format(3.14159, ".2f"), t.render().split("\n")]
#= ["01:02:05", "1h02 1 hours 2 minutes 5 seconds", "    01:02:05", "   01:02:05   |1h02", "3.14", ["what     | time    ", "---------+---------", "build    | 01:02:05", "test all | 1h02    "]]

#: format-invoice
#: An invoice rendered with several formatting styles and text helpers.
import textwrap

LINES = [("Consulting, on site", 12.5, 95), ("Travel", 1, 340.2), ("Support contract (yearly)", 1, 1200)]
TAX = 0.19


def render(lines, tax):
    net = sum(q * p for _, q, p in lines)
    out = ["{:<28}{:>6}{:>10}{:>12}".format("Item", "Qty", "Price", "Sum")]
    out.append("=" * len(out[0]))
    for text, qty, price in lines:
        out.append(f"{text:<28.28}{qty:>6g}{price:>10,.2f}{qty * price:>12,.2f}")
    out.append("-" * len(out[0]))
    for label, amount in (("Net", net), ("Tax %d%%" % round(tax * 100), net * tax), ("Total", net * (1 + tax))):
        out.append("%-44s%12s" % (label, format(amount, ",.2f")))
    return out


def note(text, width=30):
    return textwrap.indent(textwrap.fill(text, width), "> ")


body = render(LINES, TAX)
result = {"lines": body, "same_width": len({len(line) for line in body}) == 1, "note": note("Payable within thirty days, please quote the number.")}
#= {"lines": ["Item                           Qty     Price         Sum", "========================================================", "Consulting, on site           12.5     95.00    1,187.50", "Travel                           1    340.20      340.20", "Support contract (yearly)        1  1,200.00    1,200.00", "--------------------------------------------------------", "Net                                             2,727.70", "Tax 19%                                           518.26", "Total                                           3,245.96"], "same_width": true, "note": "> Payable within thirty days,\n> please quote the number."}
