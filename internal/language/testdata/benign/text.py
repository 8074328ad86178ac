#: word-frequency
#: Counts words of a text and reports the most common ones.
import re
from collections import Counter

TEXT = """It was the best of times, it was the worst of times,
it was the age of wisdom, it was the age of foolishness..."""

STOP = {"it", "was", "the", "of"}


def words(text):
    return re.findall(r"[a-z']+", text.lower())


counts = Counter(words(TEXT))
content = Counter({w: n for w, n in counts.items() if w not in STOP})
lengths = Counter(map(len, counts))
bigrams = Counter(zip(words(TEXT), words(TEXT)[1:]))
result = {
    "total": sum(counts.values()),
    "top": counts.most_common(3),
    "content": sorted(content.items(), key=lambda kv: (-kv[1], kv[0]))[:3],
    "lengths": sorted(lengths.items()),
    "bigram": " ".join(bigrams.most_common(1)[0][0]),
    "minus": sorted((counts - Counter(times=1, it=4)).elements())[:4],
}
#= {"total": 24, "top": [["it", 4], ["was", 4], ["the", 4]], "content": [["age", 2], ["times", 2], ["best", 1]], "lengths": [[2, 2], [3, 3], [4, 1], [5, 2], [6, 1], [11, 1]], "bigram": "it was", "minus": ["age", "age", "best", "foolishness"]}

#: regex-log-parser
#: Parses log lines with named groups, a verbose pattern and dates.
import re
from collections import defaultdict
from datetime import datetime

LINE = re.compile(
    r"""
    ^(?P<time>\d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d)   # timestamp
    \s+\[(?P<level>[A-Z]+)\]                     # level
    \s+(?P<module>[\w.]+):\s*                    # module
    (?P<text>.*?)
    (?:\s+\((?P<ms>\d+)\s*ms\))?$                # optional duration
    """,
    re.VERBOSE,
)
LOG = """
2024-03-01 10:00:00 [INFO] web.api: GET /users (12 ms)
2024-03-01 10:00:02 [ERROR] db: timeout after retry (3000 ms)
garbage line
2024-03-01 10:01:30 [INFO] web.api: GET /orders (30ms)
2024-03-01 10:02:00 [WARN] cron.clean: nothing to do
"""

records, bad = [], []
for number, line in enumerate(LOG.strip().splitlines(), 1):
    if (m := LINE.match(line)) is None:
        bad.append(number)
        continue
    record = m.groupdict()
    record["time"] = datetime.strptime(record["time"], "%Y-%m-%d %H:%M:%S")
    record["ms"] = int(record["ms"] or 0)
    records.append(record)

per_module = defaultdict(list)
for r in records:
    per_module[r["module"]].append(r["ms"])
span = records[-1]["time"] - records[0]["time"]
result = {
    "count": len(records),
    "bad": bad,
    "levels": sorted({r["level"] for r in records}),
    "mean": {k: sum(v) / len(v) for k, v in per_module.items()},
    "span": span.total_seconds(),
    "slowest": max(records, key=lambda r: r["ms"])["text"],
    "groups": sorted(LINE.groupindex),
}
#= {"count": 4, "bad": [3], "levels": ["ERROR", "INFO", "WARN"], "mean": {"web.api": 21.0, "db": 3000.0, "cron.clean": 0.0}, "span": 120.0, "slowest": "timeout after retry", "groups": ["level", "module", "ms", "text", "time"]}

#: regex-substitution
#: re.sub with functions, back references, split, finditer and flags.
import re


def camel(name):
    head, *tail = name.split("_")
    return head + "".join(w.title() for w in tail)


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def render(template, values):
    def lookup(m):
        key = m.group("key")
        return str(values.get(key, m.group(0)))

    return re.sub(r"\{\{\s*(?P<key>\w+)\s*\}\}", lookup, template)


def luhn(digits):
    total = 0
    for i, d in enumerate(int(c) for c in reversed(digits)):
        if i % 2:
            d = d * 2 - 9 * (d > 4)
        total += d
    return total % 10 == 0


text = "Call 555-1234 or 555-9876 before 2024-05-06, see https://example.org/a?b=c."
masked, n = re.subn(r"(\d{3})-(\d{4})", r"\1-****", text)
iso = re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\3.\2.\1", "on 2024-05-06")
spans = [(m.start(), m.group()) for m in re.finditer(r"\b[a-z]{4,}\b", text)]
result = [
    camel("max_hit_points"),
    snake("maxHitPoints"),
    render("Hi {{ name }}, {{n}} new, {{ other }}", {"name": "Ann", "n": 3}),
    masked,
    n,
    iso,
    spans,
    re.split(r"\s*[,;|]\s*", "a, b;c |d"),
    re.findall(r"(\w)(\d)", "a1 b2 c3"),
    bool(re.fullmatch(r"[\w.+-]+@[\w-]+\.[\w.]+", "me.too@example.org")),
    re.search(r"(?i)HTTPS?://([^/]+)", text)[1],
    re.escape("a.b*c"),
    luhn("4539578763621486"),
    re.compile(r"^\w+", re.M).findall("one x\ntwo y"),
]
#= ["maxHitPoints", "max_hit_points", "Hi Ann, 3 new, {{ other }}", "Call 555-**** or 555-**** before 2024-05-06, see https://example.org/a?b=c.", 2, "on 06.05.2024", [[26, "before"], [49, "https"], [57, "example"]], ["a", "b", "c", "d"], [["a", "1"], ["b", "2"], ["c", "3"]], true, "example.org", "a\\.b\\*c", true, ["one", "two"]]

#: regex-tokenizer
#: A tokenizer built from one alternation and lastgroup.
import re
from typing import NamedTuple


class Token(NamedTuple):
    type: str
    value: str
    line: int
    column: int


SPEC = [
    ("NUMBER", r"\d+(?:\.\d*)?"),
    ("ASSIGN", r":="),
    ("END", r";"),
    ("ID", r"[A-Za-z_]\w*"),
    ("OP", r"[-+*/()]"),
    ("NEWLINE", r"\n"),
    ("SKIP", r"[ \t]+"),
    ("MISMATCH", r"."),
]
KEYWORDS = {"IF", "THEN", "ENDIF", "PRINT"}
PATTERN = re.compile("|".join("(?P<%s>%s)" % pair for pair in SPEC))


def tokenize(code):
    line, line_start = 1, 0
    for mo in PATTERN.finditer(code):
        kind, value = mo.lastgroup, mo.group()
        column = mo.start() - line_start
        if kind == "ID" and value in KEYWORDS:
            kind = value
        elif kind == "NEWLINE":
            line_start, line = mo.end(), line + 1
            continue
        elif kind == "SKIP":
            continue
        elif kind == "MISMATCH":
            raise SyntaxError(f"{value!r} unexpected on line {line}")
        yield Token(kind, value, line, column)


source = "IF total THEN\n  x := y * 2.5;\nENDIF"
tokens = list(tokenize(source))
try:
    list(tokenize("a := $"))
    error = None
except SyntaxError as e:
    error = e.msg
result = [[t.type for t in tokens], list(tokens[4]), tokens[-1].line, error]
#= [["IF", "ID", "THEN", "ID", "ASSIGN", "ID", "OP", "NUMBER", "END", "ENDIF"], ["ASSIGN", ":=", 2, 4], 3, "'$' unexpected on line 1"]

#: ini-parser
#: Parses an INI text with sections, comments, typed values and interpolation.
INI = """
; global settings
name = demo
[server]
host = localhost   # inline
port = 8080
url = http://${host}:${port}/
debug = yes
[limits]
ratio = 0.75
names = a, b , c
empty =
"""


def convert(text):
    low = text.lower()
    if low in ("yes", "true", "on"):
        return True
    if low in ("no", "false", "off"):
        return False
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    if "," in text:
        return [part.strip() for part in text.split(",")]
    return text or None


def parse(text):
    sections, current = {"": {}}, ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if not line or line.startswith(";"):
            continue
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1]
            sections.setdefault(current, {})
            continue
        key, sep, value = line.partition("=")
        if not sep:
            raise ValueError(f"line {number}: {line!r} has no '='")
        value = value.strip()
        for name, known in sections[current].items():
            value = value.replace("${%s}" % name, str(known))
        sections[current][key.strip()] = convert(value)
    return sections


try:
    parse("oops")
    error = None
except ValueError as e:
    error = str(e)
result = {"config": parse(INI), "error": error}
#= {"config": {"": {"name": "demo"}, "server": {"host": "localhost", "port": 8080, "url": "http://localhost:8080/", "debug": true}, "limits": {"ratio": 0.75, "names": ["a", "b", "c"], "empty": null}}, "error": "line 1: 'oops' has no '='"}

#: csv-by-hand
#: A small CSV reader with quotes, used for a grouped report.
from collections import defaultdict

CSV = '''region,product,"units sold",price
north,"Lamp, large",10,19.90
south,Chair,4,45.00
north,Chair,1,45.00
south,"Table ""Oak""",2,199.00
'''


def read_row(line):
    cells, cell, quoted, i = [], [], False, 0
    while i < len(line):
        ch = line[i]
        if quoted:
            if ch == '"' and line[i + 1:i + 2] == '"':
                cell.append('"')
                i += 1
            elif ch == '"':
                quoted = False
            else:
                cell.append(ch)
        elif ch == '"':
            quoted = True
        elif ch == ",":
            cells.append("".join(cell))
            cell = []
        else:
            cell.append(ch)
        i += 1
    cells.append("".join(cell))
    return cells


header, *body = map(read_row, CSV.strip().split("\n"))
rows = [dict(zip(header, cells)) for cells in body]
revenue = defaultdict(float)
for row in rows:
    revenue[row["region"]] += int(row["units sold"]) * float(row["price"])
best = max(rows, key=lambda r: int(r["units sold"]) * float(r["price"]))
pivot = {r: {row["product"]: int(row["units sold"]) for row in rows if row["region"] == r} for r in sorted(revenue)}
result = {"header": header, "revenue": dict(revenue), "best": best["product"], "pivot": pivot}
#= {"header": ["region", "product", "units sold", "price"], "revenue": {"north": 244.0, "south": 578.0}, "best": "Table \"Oak\"", "pivot": {"north": {"Lamp, large": 10, "Chair": 1}, "south": {"Chair": 4, "Table \"Oak\"": 2}}}

#: text-wrapping
#: textwrap in its forms and a hand-made justified column.
import textwrap

TEXT = """
    Sandboxes are places where children play
    with sand. They have walls, and the sand

    stays inside; mostly.
"""

plain = textwrap.dedent(TEXT).strip()
flat = " ".join(plain.split())


def justify(words, width):
    line, lines = [], []
    for word in words:
        if sum(map(len, line)) + len(line) + len(word) > width:
            lines.append(line)
            line = []
        line.append(word)
    out = []
    for words_ in lines:
        gaps = len(words_) - 1
        if not gaps:
            out.append(words_[0].ljust(width))
            continue
        space, extra = divmod(width - sum(map(len, words_)), gaps)
        out.append("".join(w + " " * (space + (i < extra)) * (i < gaps) for i, w in enumerate(words_)))
    return out + [" ".join(line)]


wrapper = textwrap.TextWrapper(width=30, initial_indent="* ", subsequent_indent="  ", max_lines=3, placeholder=" [...]")
result = {
    "dedent": plain.splitlines()[0],
    "wrap": textwrap.wrap(flat, 28),
    "fill": wrapper.fill(flat),
    "shorten": textwrap.shorten(flat, 40, placeholder="..."),
    "indent": textwrap.indent("a\n\nb", "> ", lambda line: True),
    "justify": justify(flat.split(), 24)[:3],
}
#= {"dedent": "Sandboxes are places where children play", "wrap": ["Sandboxes are places where", "children play with sand.", "They have walls, and the", "sand stays inside; mostly."], "fill": "* Sandboxes are places where\n  children play with sand.\n  They have walls, and [...]", "shorten": "Sandboxes are places where children...", "indent": "> a\n> \n> b", "justify": ["Sandboxes   are   places", "where children play with", "sand.  They  have walls,"]}

#: diff-reports
#: difflib: unified diffs, close matches, ratios and opcodes.
import difflib

old = "alpha beta gamma delta".split()
new = "alpha beta2 gamma epsilon delta".split()
unified = list(difflib.unified_diff(old, new, "old", "new", lineterm="", n=1))
matcher = difflib.SequenceMatcher(None, old, new)
commands = ["copy", "move", "delete", "rename"]


def suggest(word):
    matches = difflib.get_close_matches(word, commands, n=1)
    return f"did you mean {matches[0]}?" if matches else "unknown"


def apply(opcodes, a, b):
    out = []
    for tag, i1, i2, j1, j2 in opcodes:
        out.extend(a[i1:i2] if tag == "equal" else b[j1:j2])
    return out


result = {
    "unified": unified,
    "tags": [op[0] for op in matcher.get_opcodes()],
    "ratio": round(matcher.ratio(), 3),
    "suggest": [suggest("cpoy"), suggest("renmae"), suggest("xyz")],
    "patched": apply(matcher.get_opcodes(), old, new) == new,
    "ndiff": [d for d in difflib.ndiff(["one", "two"], ["one", "tvo"]) if d[0] in "+-"],
}
#= {"unified": ["--- old", "+++ new", "@@ -1,4 +1,5 @@", " alpha", "-beta", "+beta2", " gamma", "+epsilon", " delta"], "tags": ["equal", "replace", "equal", "insert", "equal"], "ratio": 0.667, "suggest": ["did you mean copy?", "did you mean rename?", "unknown"], "patched": true, "ndiff": ["- two", "+ tvo"]}

#: unicode-names
#: unicodedata: normalisation, categories, accents, widths and case folding.
import unicodedata
from collections import Counter


def strip_accents(text):
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def slug(text):
    text = strip_accents(text).casefold().replace("ß", "ss")
    return "-".join("".join(c if c.isalnum() else " " for c in text).split())


samples = ["Ångström", "naïve café", "Crème Brûlée!", "Straße"]
groups = Counter(unicodedata.category(c)[0] for c in "Aé1 €!漢")
größe = len("größe")
π = 3.14159
result = [
    [slug(s) for s in samples],
    unicodedata.name("é"),
    unicodedata.lookup("GREEK SMALL LETTER ALPHA"),
    sorted(groups.items()),
    unicodedata.normalize("NFC", "e\u0301") == "é",
    unicodedata.numeric("½"),
    unicodedata.east_asian_width("漢"),
    sorted(["zebra", "Äpfel", "apfel"], key=strip_accents),
    "ΑΒΓ".lower(),
    größe,
    round(π * 2, 3),
]
#= [["angstrom", "naive-cafe", "creme-brulee", "strasse"], "LATIN SMALL LETTER E WITH ACUTE", "\u03b1", [["L", 3], ["N", 1], ["P", 1], ["S", 1], ["Z", 1]], true, 0.5, "W", ["\u00c4pfel", "apfel", "zebra"], "\u03b1\u03b2\u03b3", 5, 6.283]

#: markdown-to-html
#: A small Markdown converter with inline rules, lists and headings.
import re

SOURCE = """# Title & more

Some *emphasis* and **strong** `code <b>`.
Second line.

- one
- [two](http://example.org)

## End
"""

ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
INLINE = [
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"\*(.+?)\*"), r"<em>\1</em>"),
    (re.compile(r"\[([^\]]+)\]\(([^)]+)\)"), r'<a href="\2">\1</a>'),
]


def inline(text):
    text = text.translate(ESCAPES)
    for pattern, replacement in INLINE:
        text = pattern.sub(replacement, text)
    return text


def convert(source):
    out = []
    for block in re.split(r"\n\s*\n", source.strip()):
        lines = block.splitlines()
        if m := re.match(r"(#{1,6})\s+(.*)", lines[0]):
            level = len(m[1])
            out.append(f"<h{level}>{inline(m[2])}</h{level}>")
        elif all(line.startswith("- ") for line in lines):
            items = "".join(f"<li>{inline(line[2:])}</li>" for line in lines)
            out.append(f"<ul>{items}</ul>")
        else:
            out.append(f"<p>{inline(' '.join(lines))}</p>")
    return out


result = convert(SOURCE)
#= ["<h1>Title &amp; more</h1>", "<p>Some <em>emphasis</em> and <strong>strong</strong> <code>code &lt;b&gt;</code>. Second line.</p>", "<ul><li>one</li><li><a href=\"http://example.org\">two</a></li></ul>", "<h2>End</h2>"]

#: ciphers-and-roman
#: Small ciphers with translate tables, run-length coding and Roman numbers.
import string
from itertools import groupby


def caesar(text, shift):
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    table = str.maketrans(lower + upper, lower[shift:] + lower[:shift] + upper[shift:] + upper[:shift])
    return text.translate(table)


def rle(text):
    return "".join(f"{len(list(g))}{c}" for c, g in groupby(text))


def unrle(code):
    out, n = "", ""
    for ch in code:
        if ch.isdigit():
            n += ch
        else:
            out, n = out + ch * int(n), ""
    return out


ROMAN = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(n):
    out = []
    for value, letters in ROMAN:
        times, n = divmod(n, value)
        out.append(letters * times)
    return "".join(out)


def vigenere(text, key, sign=1):
    shifts = [ord(c) - ord("a") for c in key]
    return "".join(chr((ord(c) - 97 + sign * shifts[i % len(key)]) % 26 + 97) for i, c in enumerate(text))


secret = caesar("Hello, World", 3)
packed = rle("aaabccdddd" + "e" * 12)
result = [secret, caesar(secret, -3 % 26), packed, unrle(packed), [roman(n) for n in (4, 1994, 2024)], vigenere("attackatdawn", "lemon"), vigenere(vigenere("abc", "key"), "key", -1)]
#= ["Khoor, Zruog", "Hello, World", "3a1b2c4d12e", "aaabccddddeeeeeeeeeeee", ["IV", "MCMXCIV", "MMXXIV"], "lxfopvefrnhr", "abc"]

#: palindromes-and-anagrams
#: String exercises: palindromes, anagrams, vowels, edit distance and longest common prefix.
from collections import defaultdict
from functools import lru_cache


def is_palindrome(text):
    letters = [c for c in text.lower() if c.isalnum()]
    return letters == letters[::-1]


def longest_palindrome(s):
    best = ""
    for i in range(len(s)):
        for lo, hi in ((i, i), (i, i + 1)):
            while lo >= 0 and hi < len(s) and s[lo] == s[hi]:
                lo, hi = lo - 1, hi + 1
            best = max(best, s[lo + 1:hi], key=len)
    return best


def group_anagrams(words):
    groups = defaultdict(list)
    for w in words:
        groups["".join(sorted(w))].append(w)
    return sorted(groups.values())


@lru_cache(maxsize=None)
def edit(a, b):
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return edit(a[1:], b[1:])
    return 1 + min(edit(a[1:], b), edit(a, b[1:]), edit(a[1:], b[1:]))


def common_prefix(words):
    out = []
    for column in zip(*words):
        if len(set(column)) > 1:
            break
        out.append(column[0])
    return "".join(out)


result = [is_palindrome("A man, a plan, a canal: Panama"), longest_palindrome("forgeeksskeegfor"), group_anagrams(["eat", "tea", "tan", "ate", "nat", "bat"]), edit("kitten", "sitting"), edit.cache_info().hits > 0, common_prefix(["flower", "flow", "flight"]), sum(c in "aeiou" for c in "education")]
#= [true, "geeksskeeg", [["bat"], ["eat", "tea", "ate"], ["tan", "nat"]], 3, true, "fl", 5]
