#: agent-tool-calls
#: An agent loop with tools registered by decorator, a plan and a final answer.
import json

TOOLS = {}


def tool(description, **schema):
    def register(f):
        f.description = description
        f.schema = schema
        TOOLS[f.__name__] = f
        return f

    return register


@tool("adds numbers", values=list)
def add(values):
    return sum(values)


@tool("looks up a capital", country=str)
def capital(country):
    return {"france": "Paris", "japan": "Tokyo"}[country.lower()]


@tool("repeats text", text=str, times=int)
def repeat(text, times=2):
    return text * times


def call(request):
    try:
        spec = json.loads(request)
        f = TOOLS[spec["tool"]]
        args = spec.get("args", {})
        for name, kind in f.schema.items():
            if name in args and not isinstance(args[name], kind):
                raise TypeError(f"{name} must be {kind.__name__}")
        return {"status": "ok", "value": f(**args)}
    except json.JSONDecodeError as e:
        return {"status": "error", "error": f"bad JSON at {e.pos}"}
    except KeyError as e:
        return {"status": "error", "error": f"unknown {e.args[0]}"}
    except TypeError as e:
        return {"status": "error", "error": str(e)}


def run(plan, limit=10):
    memory = {}
    for step, (name, request) in enumerate(plan, 1):
        if step > limit:
            break
        for key, value in memory.items():
            request = request.replace("$" + key, json.dumps(value))
        answer = call(request)
        memory[name] = answer.get("value", answer.get("error"))
    return memory


plan = [
    ("total", '{"tool": "add", "args": {"values": [1, 2, 3]}}'),
    ("city", '{"tool": "capital", "args": {"country": "Japan"}}'),
    ("joined", '{"tool": "repeat", "args": {"text": $city, "times": 3}}'),
    ("bad", '{"tool": "add", "args": {"values": 5}}'),
    ("worse", '{"tool": "fly"}'),
    ("worst", "{oops"),
]
result = {"memory": run(plan), "help": {n: f"{f.description} ({', '.join(f.schema)})" for n, f in TOOLS.items()}}
#= {"memory": {"total": 6, "city": "Tokyo", "joined": "TokyoTokyoTokyo", "bad": "values must be list", "worse": "unknown fly", "worst": "bad JSON at 1"}, "help": {"add": "adds numbers (values)", "capital": "looks up a capital (country)", "repeat": "repeats text (text, times)"}}

#: agent-data-cleaning
#: Cleans a messy list of records: trims, normalises, deduplicates and reports.
import re
from collections import Counter
from datetime import datetime

RAW = [
    {"Name": " ann  LEE ", "E-Mail": "Ann@Example.org", "joined": "2024-01-05", "amount": "1,200.50"},
    {"Name": "bob", "E-Mail": "bob(at)example.org", "joined": "05.02.2024", "amount": "n/a"},
    {"Name": "Ann Lee", "E-Mail": "ann@example.org ", "joined": "Jan 5, 2024", "amount": "$30"},
    {"Name": "", "E-Mail": None, "joined": "yesterday", "amount": None},
]
issues = Counter()


def clean_key(key):
    return re.sub(r"\W+", "_", key.strip().lower())


def clean_date(text):
    for fmt in ("%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y"):
        try:
            return datetime.strptime(text, fmt).date().isoformat()
        except (ValueError, TypeError):
            pass
    issues["date"] += 1
    return None


def clean_amount(text):
    digits = re.sub(r"[^\d.\-]", "", text or "")
    if not digits:
        issues["amount"] += 1
        return None
    return float(digits)


CLEANERS = {
    "name": lambda v: " ".join((v or "").split()).title() or None,
    "e_mail": lambda v: v.strip().lower() if v and "@" in v else None,
    "joined": clean_date,
    "amount": clean_amount,
}


def clean(row):
    keyed = {clean_key(k): v for k, v in row.items()}
    return {k: CLEANERS.get(k, lambda v: v)(v) for k, v in keyed.items()}


def merge(rows, key):
    merged, rest = {}, []
    for row in rows:
        if row[key] is None:
            rest.append(row)
        elif row[key] in merged:
            issues["duplicate"] += 1
            known = merged[row[key]]
            known["amount"] = (known["amount"] or 0) + (row["amount"] or 0)
        else:
            merged[row[key]] = dict(row)
    return [*merged.values(), *rest]


cleaned = [clean(r) for r in RAW]
kept = [r for r in merge(cleaned, "e_mail") if r["name"]]
result = {"rows": kept, "issues": dict(sorted(issues.items())), "dropped": len(RAW) - len(kept) - issues["duplicate"]}
#= {"rows": [{"name": "Ann Lee", "e_mail": "ann@example.org", "joined": "2024-01-05", "amount": 1230.5}, {"name": "Bob", "e_mail": null, "joined": "2024-02-05", "amount": null}], "issues": {"amount": 2, "date": 1, "duplicate": 1}, "dropped": 1}

#: agent-report
#: Builds a report from measurements with outliers, trends and a text chart.
import statistics
from itertools import groupby

samples = {"mon": [12, 15, 11, 90], "tue": [14, 13, 16, 15], "wed": [20, 22, 19, 21], "thu": []}


def outliers(xs, k=1.5):
    if len(xs) < 4:
        return []
    q1, _, q3 = statistics.quantiles(xs, n=4, method="inclusive")
    spread = q3 - q1
    return [x for x in xs if not q1 - k * spread <= x <= q3 + k * spread]


def summary(xs):
    odd = outliers(xs)
    good = [x for x in xs if x not in odd]
    if not good:
        return None
    return {"n": len(good), "mean": round(statistics.mean(good), 2), "median": statistics.median(good), "outliers": odd}


def chart(values, width=20):
    top = max(values.values())
    return [f"{k:<4}|{'#' * round(v / top * width)} {v:g}" for k, v in values.items()]


def trend(xs):
    signs = ["up" if b > a else "down" if b < a else "flat" for a, b in zip(xs, xs[1:])]
    return [(k, sum(1 for _ in g)) for k, g in groupby(signs)]


report = {day: s for day, xs in samples.items() if (s := summary(xs))}
means = {day: s["mean"] for day, s in report.items()}
result = {"report": report, "chart": chart(means), "trend": trend(list(means.values())), "missing": sorted(samples.keys() - report.keys()), "best": max(means, key=means.get)}
#= {"report": {"mon": {"n": 3, "mean": 12.67, "median": 12, "outliers": [90]}, "tue": {"n": 4, "mean": 14.5, "median": 14.5, "outliers": []}, "wed": {"n": 4, "mean": 20.5, "median": 20.5, "outliers": []}}, "chart": ["mon |############ 12.67", "tue |############## 14.5", "wed |#################### 20.5"], "trend": [["up", 2]], "missing": ["thu"], "best": "wed"}

#: agent-scheduler
#: Schedules tasks with dependencies, durations and several workers.
from dataclasses import dataclass, field


@dataclass
class Task:
    name: str
    hours: int
    needs: tuple = ()
    start: int = field(default=-1, compare=False)
    worker: int = -1

    @property
    def end(self):
        return self.start + self.hours


class CycleError(ValueError):
    def __init__(self, names):
        super().__init__("cycle among " + ", ".join(names))
        self.names = names


def plan(tasks, workers):
    todo = {t.name: t for t in tasks}
    done, free = {}, [0] * workers
    while todo:
        ready = [t for t in todo.values() if all(n in done for n in t.needs)]
        if not ready:
            raise CycleError(sorted(todo))
        task = max(ready, key=lambda t: (t.hours, t.name))
        worker = min(range(workers), key=lambda i: free[i])
        task.start = max([free[worker], *(done[n].end for n in task.needs)])
        task.worker = worker
        free[worker] = task.end
        done[task.name] = todo.pop(task.name)
    return list(done.values())


def gantt(tasks):
    return [f"{t.name:<7}{' ' * t.start}{'=' * t.hours}" for t in sorted(tasks, key=lambda t: (t.start, t.name))]


spec = "design:3 build:5:design test:2:build docs:4:design ship:1:test,docs"


def parse(text):
    for part in text.split():
        name, hours, *needs = part.split(":")
        yield Task(name, int(hours), tuple(needs[0].split(",")) if needs else ())


tasks = plan(parse(spec), workers=2)
try:
    plan([Task("a", 1, ("b",)), Task("b", 1, ("a",))], 1)
    error = None
except CycleError as e:
    error = [str(e), e.names]
result = {"gantt": gantt(tasks), "length": max(t.end for t in tasks), "workers": [t.worker for t in tasks], "error": error}
#= {"gantt": ["design ===", "build     =====", "docs      ====", "test           ==", "ship             ="], "length": 11, "workers": [0, 1, 0, 0, 1], "error": ["cycle among a, b", ["a", "b"]]}

#: agent-permission-model
#: Roles and permissions with inheritance, wildcards and an audit trail.
import re
from collections import deque


class Role:
    _all = {}

    def __init__(self, name, *rules, parents=()):
        self.name, self.rules = name, rules
        self.parents = [Role._all[p] for p in parents]
        Role._all[name] = self

    def lineage(self):
        yield self
        for parent in self.parents:
            yield from parent.lineage()

    def decide(self, action):
        for role in self.lineage():
            for rule in role.rules:
                deny, pattern = rule.startswith("!"), rule.lstrip("!")
                regex = "".join(".*" if c == "*" else re.escape(c) for c in pattern)
                if re.fullmatch(regex, action):
                    return not deny, f"{role.name}:{rule}"
        return False, "default"


class Guard:
    def __init__(self, size=3):
        self.audit = deque(maxlen=size)

    def requires(self, action):
        def decorate(f):
            def inner(user, *args, **kwargs):
                allowed, why = Role._all[user["role"]].decide(action)
                self.audit.append(f"{user['name']} {action} {'ok' if allowed else 'no'} ({why})")
                if not allowed:
                    raise PermissionError(f"{user['name']} may not {action}")
                return f(user, *args, **kwargs)

            inner.__name__ = f.__name__
            return inner

        return decorate


Role("reader", "page.read", "list.*")
Role("editor", "!page.delete", "page.*", parents=["reader"])
Role("admin", "*", parents=["editor"])
guard = Guard()


@guard.requires("page.delete")
def delete(user, page):
    return f"{page} deleted"


@guard.requires("list.all")
def show(user, *, limit=2):
    return list(range(limit))


ann, bob = {"name": "ann", "role": "admin"}, {"name": "bob", "role": "editor"}
outcomes = [delete(ann, "home"), show(bob, limit=3)]
for attempt in (lambda: delete(bob, "home"), lambda: show({"name": "eve", "role": "reader"})):
    try:
        outcomes.append(attempt())
    except PermissionError as e:
        outcomes.append(str(e))
result = [outcomes, list(guard.audit), delete.__name__]
#= [["home deleted", [0, 1, 2], "bob may not page.delete", [0, 1]], ["bob list.all ok (reader:list.*)", "bob page.delete no (editor:!page.delete)", "eve list.all ok (reader:list.*)"], "delete"]

#: agent-undo-editor
#: A text editor model with commands, undo, redo and macros.
class Command:
    def do(self, doc):
        raise NotImplementedError

    def undo(self, doc):
        raise NotImplementedError


class Insert(Command):
    def __init__(self, at, text):
        self.at, self.text = at, text

    def do(self, doc):
        doc.text = doc.text[:self.at] + self.text + doc.text[self.at:]

    def undo(self, doc):
        doc.text = doc.text[:self.at] + doc.text[self.at + len(self.text):]


class Delete(Command):
    def __init__(self, start, end):
        self.span = slice(start, end)

    def do(self, doc):
        self.removed = doc.text[self.span]
        doc.text = doc.text[:self.span.start] + doc.text[self.span.stop:]

    def undo(self, doc):
        doc.text = doc.text[:self.span.start] + self.removed + doc.text[self.span.start:]


class Macro(Command):
    def __init__(self, *commands):
        self.commands = commands

    def do(self, doc):
        for c in self.commands:
            c.do(doc)

    def undo(self, doc):
        for c in reversed(self.commands):
            c.undo(doc)


class Document:
    def __init__(self, text=""):
        self.text = text
        self._done, self._undone = [], []

    def apply(self, command):
        command.do(self)
        self._done.append(command)
        self._undone.clear()
        return self

    def undo(self, steps=1):
        for _ in range(min(steps, len(self._done))):
            command = self._done.pop()
            command.undo(self)
            self._undone.append(command)
        return self

    def redo(self):
        if self._undone:
            command = self._undone.pop()
            command.do(self)
            self._done.append(command)
        return self


doc = Document("hello")
states = []
for step in (
    lambda: doc.apply(Insert(5, " world")),
    lambda: doc.apply(Delete(0, 1)),
    lambda: doc.apply(Macro(Insert(0, "J"), Insert(len(doc.text) + 1, "!"))),
    lambda: doc.undo(),
    lambda: doc.undo(9),
    lambda: doc.redo().redo(),
    lambda: doc.apply(Insert(0, ">")).redo(),
):
    states.append(step().text)
result = states
#= ["hello world", "ello world", "Jello world!", "ello world", "hello", "ello world", ">ello world"]

#: agent-rate-limits
#: A token bucket, a sliding window and a circuit breaker on a fake clock.
from collections import deque
from functools import wraps


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class TokenBucket:
    def __init__(self, rate, capacity, clock):
        self.rate, self.capacity, self.clock = rate, capacity, clock
        self.tokens, self.last = capacity, clock()

    def allow(self, cost=1):
        now = self.clock()
        self.tokens = min(self.capacity, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens >= cost:
            self.tokens -= cost
            return True
        return False


class SlidingWindow:
    def __init__(self, limit, seconds, clock):
        self.limit, self.seconds, self.clock, self.hits = limit, seconds, clock, deque()

    def allow(self):
        while self.hits and self.hits[0] <= self.clock() - self.seconds:
            self.hits.popleft()
        if len(self.hits) < self.limit:
            self.hits.append(self.clock())
            return True
        return False


class CircuitOpen(Exception):
    pass


def breaker(failures, cooldown, clock):
    def decorate(f):
        state = {"failed": 0, "opened": None}

        @wraps(f)
        def inner(*args):
            if state["opened"] is not None:
                if clock() - state["opened"] < cooldown:
                    raise CircuitOpen(f.__name__)
                state.update(failed=failures - 1, opened=None)
            try:
                value = f(*args)
            except Exception:
                state["failed"] += 1
                if state["failed"] >= failures:
                    state["opened"] = clock()
                raise
            state["failed"] = 0
            return value

        inner.state = state
        return inner

    return decorate


clock = Clock()
bucket, window = TokenBucket(1, 2, clock), SlidingWindow(2, 3, clock)
allowed = []
for pause in (0, 0, 0, 1, 1, 1):
    clock.sleep(pause)
    allowed.append((bucket.allow(), window.allow()))


@breaker(2, 5, clock)
def fetch(ok):
    if not ok:
        raise OSError("down")
    return "data"


events = []
for ok, pause in ((False, 0), (False, 0), (True, 1), (True, 9), (False, 0), (True, 0)):
    clock.sleep(pause)
    try:
        events.append(fetch(ok))
    except (OSError, CircuitOpen) as e:
        events.append(type(e).__name__)
result = [allowed, events, fetch.state["failed"], clock.now]
#= [[[true, true], [true, true], [false, false], [true, false], [true, false], [true, true]], ["OSError", "OSError", "CircuitOpen", "data", "OSError", "data"], 0, 13.0]

#: agent-elevator
#: An elevator simulation with requests, a strategy and statistics.
from enum import Enum


class Way(Enum):
    UP = 1
    DOWN = -1
    REST = 0


class Elevator:
    def __init__(self, floors):
        self.floors, self.at, self.way = floors, 0, Way.REST
        self.waiting = {n: [] for n in range(floors)}
        self.inside, self.delivered, self.time = [], [], 0

    def call(self, name, origin, goal):
        if not (0 <= origin < self.floors and 0 <= goal < self.floors):
            raise ValueError(f"no such floor for {name}")
        self.waiting[origin].append((name, goal, self.time))

    @property
    def targets(self):
        return {goal for _, goal, _ in self.inside} | {f for f, queue in self.waiting.items() if queue}

    def choose(self):
        targets = self.targets
        if not targets:
            return Way.REST
        ahead = [t for t in targets if (t - self.at) * self.way.value > 0]
        if ahead:
            return self.way
        nearest = min(targets, key=lambda t: (abs(t - self.at), t))
        return Way((nearest > self.at) - (nearest < self.at))

    def step(self):
        arrived = [p for p in self.inside if p[1] == self.at]
        for name, _, since in arrived:
            self.delivered.append((name, self.time - since))
        self.inside = [p for p in self.inside if p[1] != self.at] + self.waiting[self.at]
        self.waiting[self.at] = []
        self.way = self.choose()
        self.at += self.way.value
        self.time += 1

    def run(self, limit=100):
        while self.targets and self.time < limit:
            self.step()
        return self


e = Elevator(6)
for person in (("ann", 0, 4), ("bob", 3, 1), ("cy", 2, 5)):
    e.call(*person)
try:
    e.call("dee", 9, 0)
    error = None
except ValueError as exc:
    error = str(exc)
e.run()
result = {"delivered": e.delivered, "time": e.time, "error": error, "mean": round(sum(t for _, t in e.delivered) / len(e.delivered), 2), "way": e.way.name}
#= {"delivered": [["ann", 4], ["cy", 5], ["bob", 9]], "time": 10, "error": "no such floor for dee", "mean": 6.0, "way": "REST"}
