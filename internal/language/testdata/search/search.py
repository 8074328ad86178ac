"""Searches for what the language rules should not let through: passes objects that
lie to everything that a restricted script can reach, and judges what arrives.

    python3 -I search.py < CONFIG

CONFIG is JSON: source (of the rules), modules, builtins, seconds, seed; focus, a regular
expression of what to prefer; plant, to make the holes of holes.py first. Prints JSON:

    {"reached": callables, "liars": accepted, "runs": ..., "findings": [{"why", "script"}], "crashes": [...]}

A finding is

  * an object that arrives in a method or as a result, and that no honest script can
    reach: a class, function, module, frame, code, container, ... (oracle.py);
  * text of the script's that the library executes;
  * anything of the library that is another than before (changes.py).

All that a liar does is written as a restricted script and compiled by the rules. The
search is guided: a name that the library asks a liar for is one that the next liar
lies about. Each finding is repeated in a process of its own and made smaller first.
"""
import gc
import inspect
import json
import os
import random
import re
import resource
import select
import signal
import sys
import time
import types
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from changes import Changes
from forms import Forms
from holes import HOLES, place, plant
from liars import BASES, LIES, liars
from oracle import ATOMS, CONTAINERS, DICT_OF, Oracle, all_classes, getattr_static_dict, is_script_class, mro_of
from reach import TOOLS, Interpreter, Reach

FORMS_OF_A_SESSION, RUNS_OF_A_FORM, RUNS_OF_A_LIAR = 60, 48, 16
SECONDS_OF_A_RUN, SECONDS_OF_A_SESSION, SECONDS_TO_LEARN, SECONDS_OF_SILENCE, BYTES_OF_A_SESSION = 0.25, 20, 600, 10, 1 << 30
MOST_ADDRESSES, MOST_OF_A_KIND, MOST_FINDINGS = 120, 6, 60


class Interrupted(BaseException):
    """A run takes too long."""


def interrupt(*_):
    raise Interrupted


def limited(function, args):
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS_OF_A_RUN)
        try:
            return function(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:  # also by an alarm that comes as the function returns
        raise TimeoutError from None


class Search:
    def __init__(self, config):
        self.config, self.rng = config, random.Random(config["seed"])
        namespace = {"__name__": "cordon"}
        exec(compile(config["source"], "<cordon>", "exec"), namespace)
        self.refused, self.violation = namespace["Refused"], namespace["RuleViolation"]
        self.language = namespace["Language"](config["modules"], config.get("builtins", []))
        self.language.load(sorted(self.language.modules))
        if config.get("plant"):
            plant(self.language)
        self.modules = [m for m in self.language.modules if m != "__future__"]
        self.addresses = []
        self.interpreter = None
        self.oracle = Oracle(self.language, lambda name: self.interpreter.getter(name))
        self.liars, self.nodes, self.accepted = liars(), [], 0
        self.findings, self.crashes, self.runs, self.kinds = [], [], 0, {}
        self.pool, self.asked = [], set()  # forms in which a liar was asked for something new

    def fresh(self):
        """The namespace of a script that has read the prelude."""
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        self.interpreter = Interpreter(self.language, self.refused, self.modules, self.addresses)
        main.__dict__.update(self.interpreter.space)
        self.interpreter.space = main.__dict__
        self.interpreter.run(self.interpreter.prelude())
        self.oracle.marks = tuple(main.__dict__["marks"])
        tools = [main.__dict__[name] for name in TOOLS if name in main.__dict__]
        self.oracle.tools = set(map(id, tools + main.__dict__["elements"]))
        return self.interpreter

    # ---- learning what is honest

    def learn(self):
        self.compile_once()
        self.changes = Changes(self.language)
        self.oracle.remember()
        self.oracle.allow(self.violation)
        for kind in Interrupted, types.MethodWrapperType, types.WrapperDescriptorType:  # (1).__add__, int.__add__
            self.oracle.allow(kind)
        status, learned = in_child(self.reach, SECONDS_TO_LEARN)
        if not isinstance(learned, dict):
            raise SystemExit("what a script can reach cannot be found: status %s: %s" % (status, learned))
        for address in learned["allowed"]:
            self.oracle.allowed[address] = None
        self.oracle.makers = {tuple(key) for key in learned["makers"]}
        self.nodes, self.accepted = learned["nodes"], learned["liars"]
        for node in self.nodes:
            if re.search(self.config.get("focus") or "^$", node["path"]):
                node["weight"] *= 1000
        self.liars = [liar for liar in self.liars if liar.name in learned["accepted"]]
        hidden = [kind for kind in all_classes() if id(kind) not in self.oracle.allowed and object in mro_of(kind)]
        direct = [kind for kind in hidden if DICT_OF(kind) is not None and type.__dict__["__base__"].__get__(kind) is object]
        self.addresses = [object.__hash__(kind) for kind in random.Random(1).sample(direct, min(len(direct), MOST_ADDRESSES))]
        if learned["changed"]:
            self.note({"why": "changed, by honest means: %s" % learned["changed"][:5], "script": ""})
        for path, why in learned["wrong"]:
            self.note({"why": "%s, by honest means" % why, "script": path})

    def compile_once(self):
        """Compiles what every process runs, as far as the rules accept it."""
        interpreter = Interpreter(self.language, self.refused, self.modules, self.addresses)
        for text in [interpreter.prelude()] + [liar.text() for liar in self.liars]:
            try:
                Interpreter.codes[text] = self.language.compiled(text, "<script>")
            except interpreter.refusals:
                pass

    def reach(self):
        interpreter = self.fresh()
        self.oracle.learning = True
        reach = Reach(interpreter, self.oracle, limited).walk()
        accepted = []
        for liar in self.liars:
            try:
                interpreter.run(liar.text())
                accepted.append(liar.name)
            except Exception:
                pass
        return {
            "nodes": [described(node, interpreter, self.oracle) for node in reach.nodes], "allowed": list(self.oracle.allowed),
            "makers": sorted(self.oracle.makers), "wrong": reach.wrong, "liars": len(accepted), "accepted": accepted,
            "changed": self.changes.found(),
        }

    # ---- sessions

    def session(self, seed, report, seconds, only=None):
        """Tries forms in one process. report() tells the parent what is tried, and
        found. With only, the number of a form, that one alone, with a look at what
        has changed after each run."""
        end = time.monotonic() + seconds * 0.7
        interpreter = self.fresh()
        for liar in self.liars:
            interpreter.run(liar.text())
        forms, lies = Forms(self.nodes, sys.version_info), Lies(self.nodes)
        done, numbers = 0, []
        for number in range(FORMS_OF_A_SESSION) if only is None else [only]:
            rng = random.Random("%d %d" % (seed, number))
            forms.rng = lies.rng = rng
            form = rng.choice(self.pool) if self.pool and rng.random() < 0.4 else forms.make()
            try:
                interpreter.run(form)
            except Exception:
                continue
            report({"form": form, "runs": done})
            numbers.append(number)
            done += self.tried_often(interpreter, form, lies, report, only is not None)
            if time.monotonic() > end:
                break
        report({"runs": done})
        interpreter.space["probe"] = interpreter.space["made"] = None
        if only is None and self.changes.found():
            report({"changed": self.changes.found()[:5], "numbers": numbers})

    def tried_often(self, interpreter, form, lies, report, check):
        """Tries one form with one liar after another, as long as they are asked something. Gives how often."""
        probe, budget, silent, done = interpreter.space["probe"], RUNS_OF_A_FORM, 0, 0
        while budget > 0 and silent < 6:
            liar = lies.rng.choice(self.liars)
            spent, asked, found = self.guided(interpreter, probe, liar, lies, form, check)
            budget, done, silent = budget - spent, done + spent, 0 if asked else silent + 1
            report({})  # alive
            fresh = [(liar.base, name, home(form)) for name in sorted(asked) if (liar.base, name, home(form)) not in self.asked]
            if fresh:
                self.asked.update(fresh)
                report({"asked": fresh, "of": form})
                budget += RUNS_OF_A_FORM
            if found:
                report({"why": found[1], "form": form, "liar": self.liars.index(liar), "answers": found[0]})
                break
        return done

    def guided(self, interpreter, probe, liar, lies, form, check):
        """Lies about more and more of what is asked. Gives how many runs it took, the
        names that were asked for, and what was found."""
        asked, queue, runs = set(), [{}], 0
        while queue and runs < RUNS_OF_A_LIAR:
            answers = queue.pop(0)
            runs += 1
            why, names = self.tried(interpreter, probe, liar, answers, check)
            if why:
                return runs, asked, (answers, why)
            for name in names:
                if name not in asked and name not in answers:
                    asked.add(name)
                    queue[:0] = [dict(answers, **{name: lie}) for lie in lies.about(name, 3)]
            if not queue and asked:
                queue = [lies.impersonation(form, asked) for _ in range(4)]
            elif not queue and liar.methods and runs < 4:
                queue = [{name: lies.about(name, 1)[0]} for name in lies.rng.sample(sorted(liar.methods), min(3, len(liar.methods)))]
        return runs, asked, None

    def tried(self, interpreter, probe, liar, answers, check):
        """One run: gives what is wrong, and which names the liar was asked for."""
        space, oracle = interpreter.space, self.oracle
        seen = space["seen"]
        seen.clear()
        oracle.executed.clear()
        wrong = None
        signal.setitimer(signal.ITIMER_REAL, SECONDS_OF_A_RUN, SECONDS_OF_A_RUN)
        try:
            space["answers"] = {}
            x = space[liar.name](*(space_value(interpreter, BASES[liar.base]) if BASES[liar.base] else ()))
            space["answers"] = {name: space_value(interpreter, lie)[0] for name, lie in answers.items()}
            oracle.active = True
            try:
                seen.append(("result", probe(x)))
            except SystemError as error:
                oracle.active = False
                wrong = "SystemError: %.100s" % error
            except Exception as error:
                seen.append(("raised", error))
        except BaseException:
            pass
        finally:
            oracle.active = False
            while True:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                    break
                except Interrupted:
                    pass
        arrived = list(seen)
        space["answers"] = {}
        names = [entry[1] for entry in arrived if type(entry) is tuple and len(entry) == 2 and entry[0] == "asked" and type(entry[1]) is str]
        wrong = wrong or (oracle.executed[0] if oracle.executed else None)
        wrong = wrong or oracle.judge(arrived[:200])
        seen.clear()
        if check and not wrong and self.changes.found():
            wrong = "changed: %s" % self.changes.found()[:5]
        return wrong, names

    # ---- findings

    def note(self, finding):
        if self.is_new(finding["why"], finding["script"]):
            self.findings.append(finding)

    def is_new(self, why, form):
        """Whether not enough findings are of the same kind, and none at the same place."""
        kind = re.sub(r"\d+|0x[0-9a-f]+|: (dict|list|set) of.*", "", why)[:90]
        place = kind, home(form)
        self.kinds[kind] = self.kinds.get(kind, 0) + (place not in self.kinds)
        self.kinds[place] = self.kinds.get(place, 0) + 1
        return self.kinds[place] == 1 and self.kinds[kind] <= MOST_OF_A_KIND

    def repeated(self, form, liar, answers):
        """Whether a finding is made in a process of its own, too; gives why."""
        def once():
            interpreter = self.fresh()
            interpreter.run(liar.text())
            interpreter.run(form)
            return self.tried(interpreter, interpreter.space["probe"], liar, answers, True)[0]

        return in_child(once, 5)[1]

    def smaller(self, form, liar, answers):
        why = self.repeated(form, liar, answers)
        if not why:
            return None, form, liar, answers
        for name in list(answers):
            fewer = {n: v for n, v in answers.items() if n != name}
            if self.repeated(form, liar, fewer):
                answers = fewer
        for name in list(liar.methods):
            if self.repeated(form, liar.without(name), answers):
                liar = liar.without(name)
        lines = form.splitlines(True)
        for i in range(len(lines) - 1, 0, -1):
            fewer = "".join(lines[:i] + lines[i + 1:])
            if self.repeated(fewer, liar, answers):
                lines = fewer.splitlines(True)
        return why, "".join(lines), liar, answers

    def found(self, message):
        if not self.is_new(message["why"], message["form"]):
            return
        why, form, liar, answers = self.smaller(message["form"], self.liars[message["liar"]], message["answers"])
        table = "answers = {%s}\n" % ", ".join("%r: %s" % item for item in answers.items())
        script = liar.text() + form + table + "probe(%s)\n" % liar.made()
        if why is None:
            why, script = message["why"] + " (not when repeated alone)", script
        self.findings.append({"why": why, "script": script})

    def changed(self, message, seed):
        """Finds which form of a session changed something: each is repeated alone."""
        why = "changed: %s" % message["changed"]
        if not self.is_new(why, ""):
            return
        for number in message["numbers"]:
            for found in messages(lambda report: self.session(seed, report, SECONDS_OF_A_SESSION, number), SECONDS_OF_A_SESSION):
                if found.get("why", "").startswith("changed"):
                    return self.found(found)
        self.findings.append({"why": why + " (by several forms together)", "script": "# the session %d" % seed})

    def is_done(self):
        """Whether there is enough: every hole that was made, or too many."""
        missed = [name for name in HOLES if not any(place(name) in f["script"] for f in self.findings)]
        return len(self.findings) >= MOST_FINDINGS or self.config.get("plant") and not missed

    def search(self):
        self.learn()
        end = time.monotonic() + self.config["seconds"]
        while time.monotonic() < end and not self.is_done():
            # The first session is a whole one, however short the time.
            seed, seconds = self.rng.getrandbits(48), SECONDS_OF_A_SESSION
            if self.runs:
                seconds = min(seconds, max(1, end - time.monotonic()))
            # The session first, and its findings when it has ended: they take time of their own.
            told = list(messages(lambda report: self.session(seed, report, seconds), seconds, SECONDS_OF_SILENCE))
            last = [message["form"] for message in told if "form" in message][-1:]
            self.runs += max([message.get("runs", 0) for message in told], default=0)
            for message in told:
                if "why" in message:
                    self.found(message)
                elif "changed" in message:
                    self.changed(message, seed)
                elif "died" in message and message["died"] not in OUR_SIGNALS:
                    self.crashes.append({"why": "signal %d" % message["died"], "script": "".join(last)})
                elif "failed" in message:
                    raise SystemExit("a session failed: %s" % message["failed"])
            for message in told:
                if "asked" in message:
                    self.asked.update(map(tuple, message["asked"]))
                    self.pool.append(message["of"])
        return {"reached": sum(n["callable"] for n in self.nodes), "liars": self.accepted, "runs": self.runs,
                "findings": self.findings, "crashes": self.crashes}


OUR_SIGNALS = {signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL}


def home(form):
    """The first attribute of a module, or of another thing, that a form names."""
    found = re.search(r"\b(?!(?:seen|answers)\.)\w+\.\w+", form)
    return found[0] if found else ""


class Lies:
    def __init__(self, nodes):
        self.rng = None  # of the form that is tried
        self.classes = [n["path"] for n in nodes if n["names"]]
        self.models = [n for n in nodes if n["data"]]
        self.close = {}  # models, by module

    def near(self, form):
        """A model, most often one of the module that the form is about."""
        module = home(form).partition(".")[0] + "."
        if module not in self.close:
            self.close[module] = [n for n in self.models if module in n["path"]] or self.models
        return self.rng.choice(self.close[module] if self.rng.random() < 0.7 else self.models)

    def about(self, name, count):
        table = LIES.get(name, LIES[""])
        return [lie % self.rng.choice(self.classes) if "%s" in lie else lie for lie in self.rng.sample(table, min(count, len(table)))]

    def impersonation(self, form, asked):
        """The answers of an honest object that a script can reach, but for one or two."""
        model = self.near(form)
        answers = {"__class__": "type(%s)" % model["path"]}
        for name, kind in model["data"].items():
            answers[name] = "%s.%s" % (model["path"], name)
        names = sorted(set(model["data"]) | {n for n in asked if n != "__class__"})
        for name in self.rng.sample(names, min(len(names), self.rng.choice((0, 1, 2, 2)))):
            kind = model["data"].get(name, "")
            lie = self.about(name, 1)[0]
            if kind == "bool" and self.rng.random() < 0.6:
                lie = "not %s.%s" % (model["path"], name)
            elif kind in ("str", "NoneType") and self.rng.random() < 0.6:
                lie = "marks[%d]" % self.rng.randrange(6)
            answers[name] = lie
        return answers


def space_value(interpreter, expression):
    """The value of an expression of the script's, in a tuple."""
    cache = interpreter.__dict__.setdefault("values", {})
    if expression not in cache:
        cache[expression] = interpreter.value(expression)
    return (cache[expression](),)


def described(node, interpreter, oracle):
    value = node.value
    kind = type(value)
    names, keywords = [], []
    if issubclass(kind, type) and type not in mro_of(value) and not is_script_class(value):
        names = sorted(n for n in {n for base in mro_of(value) for n in DICT_OF(base)} - {"__class__", "__new__"} if interpreter.definable(n))
    if callable(value):
        try:
            keywords = [p.name for p in inspect.signature(value).parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        except Exception:
            pass
    data = {}
    if not callable(value) and kind not in ATOMS and type(value) not in CONTAINERS:
        for name in oracle.data_names(kind) + [n for n in getattr_static_dict(value) or () if interpreter.getter(n)]:
            try:
                data[name] = type(interpreter.getter(name)(value)).__name__
            except Exception:
                pass
    return {"path": node.path, "callable": callable(value), "names": names, "keywords": keywords, "worked": node.worked, "data": data,
            "weight": weight(value, kind)}


def weight(value, kind):
    if kind in (types.FunctionType, types.MethodType):
        return 6
    if issubclass(kind, type):
        return 6 if any(type(v) is types.FunctionType for v in DICT_OF(value).values()) else 1
    return 0.2 if kind in (types.WrapperDescriptorType, types.MethodWrapperType, types.MethodDescriptorType) else 1


# ---- processes

def confined(work, writer, seconds):
    """In a child: work with limits, then the end."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_A_SESSION, BYTES_OF_A_SESSION))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 2, int(seconds) + 3))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, interrupt)
        null = os.open(os.devnull, os.O_RDWR)
        for number in 0, 1, 2:
            os.dup2(null, number)
        sys.stdout = sys.stderr = open(os.devnull, "w")

        def report(message):
            data = json.dumps(message).encode() + b"\n"
            while data:
                data = data[os.write(writer, data):]

        work(report)
    except (MemoryError, RecursionError, Interrupted):
        os._exit(3)
    except BaseException as error:
        import traceback

        try:
            report({"failed": "".join(traceback.format_exception(type(error), error, error.__traceback__))[-2000:]})
        except BaseException:
            pass
        os._exit(4)
    os._exit(0)


def messages(work, seconds, silence=None):
    """What a child reports, until it ends or its time is up, or it was silent for too
    long: what hangs in C cannot be interrupted."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        confined(work, writer, seconds)
    os.close(writer)
    end, rest = time.monotonic() + seconds, b""
    while True:
        left = max(0, end - time.monotonic())
        ready = select.select([reader], [], [], left if silence is None else min(left, silence))[0]
        data = os.read(reader, 65536) if ready else b""
        if not data:
            if not ready:
                os.kill(child, signal.SIGKILL)
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield json.loads(line)
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        yield {"died": os.WTERMSIG(status)}


def in_child(work, seconds):
    """What work gives, and how the child ended."""
    value, status = None, 0
    for message in messages(lambda report: report({"value": work()}), seconds):
        value, status = message.get("value", value), message.get("died", message.get("failed", status))
    return status, value


def main():
    warnings.simplefilter("ignore")
    gc.disable()
    report = Search(json.load(sys.stdin)).search()
    print(json.dumps(report, indent=1))
    raise SystemExit(1 if report["findings"] else 0)


if __name__ == "__main__":
    main()
