"""Makes new scripts of the cells of both corpora, and looks for one that the
rules accept and that then leaves the language.

    python3 -I fuzz.py SOURCE_OF_THE_RULES SECONDS SEED

An escape is noticed by what it does, not by how it is written:

  * an audit event (exec, open, import, os.*, ...) that no benign cell causes, from
    the script itself or from another place of the library than theirs; or text
    that is executed and asks for what no benign text asks for;
  * an object in the script's variables that no script may hold: a module, a
    frame, a metaclass, the dict of a module, open, getattr, the guards' own;
  * a facade, a class or a function of the library that is another than before;
  * the death of the interpreter, but for its limits; an error of the rules'.

Prints JSON: {"runs": ..., "accepted": ..., "findings": [{"script", "why"}]}; with
findings it ends with 1.
"""
import ast
import builtins
import glob
import io
import json
import os
import random
import re
import resource
import signal
import sys
import time
import types
import warnings

MODULES = """math cmath decimal fractions statistics json re string textwrap unicodedata difflib datetime calendar
    collections itertools functools operator enum dataclasses typing copy hashlib base64 random uuid struct pprint""".split()
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = "<script>"
SECONDS_OF_ONE, BYTES_OF_ONE = 2, 1 << 30
REFUSALS = SyntaxError, ValueError, RecursionError, MemoryError, OverflowError

FORBIDDEN = """__class__ __dict__ __globals__ __code__ __closure__ __self__ __func__ __builtins__ __mro__ __bases__ __base__
    __subclasses__ __import__ __loader__ __spec__ __traceback__ __reduce__ __reduce_ex__ __getattribute__ __setattr__
    __wrapped__ __origin__ __args__ __objclass__ __prepare__ __instancecheck__ __match_args__ __annotations__ __init__
    __new__ __init_subclass__ __set_name__ __get__ __call__ __members__ gi_frame gi_code cr_frame ag_frame tb_frame tb_next
    f_back f_globals f_locals f_builtins f_code co_code""".split()
WATCHED = """obj register mro evaluate _clear_cache _convert_ _create_ _stream _reconstruct _os _sys _member_map_ _abc_impl
    _evaluate _value_ _fields _make _replace _missing_ registry metadata groupindex format format_map func args keywords
    maps data dispatcher fget fset default_factory type name value pattern""".split()
PLAIN = "x y items keys values append get copy update real imag split join upper encode decode send throw close n a b".split()
CALLS = "type iter next list tuple dict repr str callable len hash id bool set sorted reversed super object".split()


# ---- the corpora

def cells(path):
    with open(path, newline="", encoding="utf-8") as file:
        found, cell = [], None
        for line in file:
            if line.startswith("#: "):
                if cell is None or cell[1]:
                    cell = [[], []]
                    found.append(cell)
                cell[0].append(line[3:].strip())
            elif cell is not None:
                cell[1].append(line)
    return [(head, "".join(body)) for head, body in found]


def fits(head):
    for line in head:
        bound = re.fullmatch(r"(since|until) 3\.(\d+)", line)
        if bound and (sys.version_info[1] < int(bound[2]) if bound[1] == "since" else sys.version_info[1] > int(bound[2])):
            return False
    return "escaped text" not in head


def corpus(kind):
    for path in sorted(glob.glob(os.path.join(HERE, kind, "*.py"))):
        for head, body in cells(path):
            if fits(head):
                try:
                    ast.parse(body)
                except (SyntaxError, ValueError):
                    continue
                yield body


# ---- new scripts

class Maker:
    """Puts parts of scripts together."""

    def __init__(self, sources, choice):
        self.sources, self.choice = sources, choice
        self.expressions, self.statements, self.imports = [], [], []
        for source in sources:
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self.imports.append(ast.unparse(node))
                elif isinstance(node, ast.stmt):
                    self.statements.append(ast.unparse(node))
                elif isinstance(node, ast.expr) and not isinstance(node, (ast.Starred, ast.Yield, ast.YieldFrom, ast.Await)):
                    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
                        continue
                    try:
                        text = ast.unparse(node)
                    except Exception:
                        continue
                    if 1 < len(text) < 200:
                        self.expressions.append(text)

    def make(self):
        tree = ast.parse(self.choice.choice(self.sources))
        for _ in range(self.choice.randint(1, 6)):
            self.choice.choice((self.splice, self.splice, self.replace, self.rename, self.wrap, self.swap, self.restring, self.cross))(tree)
        return ast.unparse(ast.fix_missing_locations(tree))

    def pick(self, tree, kind):
        return self.choice.choice([n for n in ast.walk(tree) if isinstance(n, kind)] or [None])

    def splice(self, tree):
        bodies = [n.body for n in ast.walk(tree) if isinstance(getattr(n, "body", None), list)]
        body = self.choice.choice(bodies)
        place = self.choice.randint(0, len(body))
        text = self.choice.choice(self.statements)
        body[place:place] = self.parsed(text)

    def cross(self, tree):
        tree.body += ast.parse(self.choice.choice(self.sources)).body
        tree.body[:0] = self.parsed(self.choice.choice(self.imports)) if self.imports else []

    def parsed(self, text):
        try:
            return ast.parse(text).body
        except (SyntaxError, ValueError):
            return []

    def expression(self):
        body = self.parsed(self.choice.choice(self.expressions))
        return body[0].value if body and isinstance(body[0], ast.Expr) else ast.Constant(None)

    def somewhere(self, tree, change):
        """Changes one expression that is read."""
        places = []
        for node in ast.walk(tree):
            if isinstance(node, (ast.JoinedStr, ast.FormattedValue)):
                continue
            for field, value in ast.iter_fields(node):
                items = [(None, value)] if isinstance(value, ast.expr) else list(enumerate(value)) if isinstance(value, list) else []
                for i, item in items:
                    if isinstance(item, ast.expr) and isinstance(getattr(item, "ctx", ast.Load()), ast.Load):
                        places.append((node, field, i, item))
        if places:
            node, field, i, item = self.choice.choice(places)
            if i is None:
                setattr(node, field, change(item))
            else:
                getattr(node, field)[i] = change(item)

    def replace(self, tree):
        self.somewhere(tree, lambda old: self.expression())

    def wrap(self, tree):
        forms = "[{}][0]", "({},)", "(lambda: {})()", "{}.%s" % self.attribute(), "next(iter([{}]))", "[{}, *()]", "{{0: {}}}[0]", \
            "%s({})" % self.choice.choice(CALLS), "(yes := {})", "object.__getattribute__({}, %r)" % self.attribute(), \
            "({} if 1 else 0)", "{}()", "{}[0]", "[x for x in [{}]][0]", "super({}, {})", "{}.__init__({})", "{}.__set_name__({}, %r)" % self.attribute()

        def change(old):
            try:
                text = ast.unparse(old)
                body = self.parsed(self.choice.choice(forms).replace("{}", "(%s)" % text, 1).replace("{}", ast.unparse(self.expression()))
                                   .replace("{{", "{").replace("}}", "}"))
            except Exception:
                return old
            return body[0].value if body and isinstance(body[0], ast.Expr) else old

        self.somewhere(tree, change)

    def attribute(self):
        return self.choice.choice(self.choice.choice((FORBIDDEN, WATCHED, WATCHED, PLAIN)))

    def rename(self, tree):
        node = self.pick(tree, ast.Attribute)
        if node is not None:
            node.attr = self.attribute()

    def swap(self, tree):
        names = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}) + CALLS
        node = self.pick(tree, ast.Name)
        if node is not None:
            node.id = self.choice.choice(names)

    def restring(self, tree):
        node = self.pick(tree, ast.Constant)
        if node is not None and isinstance(node.value, (str, int)) and not isinstance(node.value, bool):
            node.value, node.kind = self.attribute(), None


# ---- the oracle

EVENTS = ("exec", "compile", "import", "open", "object.__getattr__", "object.__setattr__", "object.__delattr__", "code.__new__",
          "function.__new__", "sys._getframe", "sys._current_frames", "sys.setprofile", "sys.settrace", "builtins.input",
          "mmap.__new__", "pickle.find_class", "gc.get_objects", "gc.get_referrers", "gc.get_referents")
GROUPS = "os.", "subprocess.", "ctypes.", "socket.", "shutil.", "tempfile.", "marshal.", "glob.", "pathlib.", "cpython.", "fcntl.", "signal."


# What the library does to objects of its own.
TOLERATED = {("object.__setattr__", ("annotationlib.py", "transmogrify"), "__class__")}


class Oracle:
    def __init__(self, language, namespace):
        self.language, self.namespace = language, namespace
        self.known, self.words, self.learning, self.active, self.seen = set(), set(), False, False, []
        # By their addresses, and kept: a place that is freed is another object's next.
        self.modules = {id(vars(m)): m for m in list(sys.modules.values()) if isinstance(m, types.ModuleType)}
        hidden = [getattr(builtins, n) for n in "open exec eval compile getattr setattr delattr vars globals locals dir input breakpoint __import__".split()]
        hidden += language, language.kinds, language.builtins, language.facades, language.library, type, io.FileIO
        hidden += (f.__dict__ for f in language.facades.values())
        self.hidden = {id(x): x for x in hidden}
        sys.addaudithook(self.hook)

    def hook(self, event, args):
        if not self.active or event not in EVENTS and not event.startswith(GROUPS):
            return
        self.active = False
        try:
            self.look(event, args)
        finally:
            self.active = True

    def look(self, event, args):
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename.startswith("<frozen"):
            frame = frame.f_back
        place = frame and (os.path.basename(frame.f_code.co_filename), frame.f_code.co_name)
        key = event, place, str(args[0])[:60] if event == "import" else str(args[1])[:60] if event.startswith("object.") else ""
        words = set()
        if event == "exec":
            words = self.names(args[0]) - self.words
            if place is None or place[0] == "fuzz.py":
                return  # the script itself
        if self.learning:
            self.known.add(key)
            self.words |= words
            return
        if place and place[0] == "<language>" or event in ("open", "import", "marshal.loads", "compile", "exec", "os.listdir") and self.importing():
            return  # a guard; or a module of the library that is loaded
        if event == "sys._getframe" and place and place[0] != SCRIPT:
            return  # namedtuple and its like, which ask who calls them
        if key not in self.known | TOLERATED:
            self.seen.append("%s in %s %s" % (event, place, key[2]))
        elif any(w.startswith("__") and w.endswith("__") or w in self.namespace["INNER"] for w in words):
            self.seen.append("%s of text that says %s" % (event, sorted(words)[:10]))

    def importing(self):
        """Whether the library imports something, with a name that is its own."""
        frame, within = sys._getframe(3), False
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith("<frozen importlib"):
                within = True
            elif within:
                return name != SCRIPT
            frame = frame.f_back
        return False

    def names(self, code):
        found = set(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                found |= self.names(constant)
        return found

    INNER = {types.ModuleType, types.FrameType, types.CodeType, io.FileIO, io.TextIOWrapper, io.BufferedReader, io.BufferedWriter}

    def held(self, space):
        """What no script may hold, among what it does."""
        seen, stack = set(), [(value, name, 0) for name, value in list(space.items()) if name != "__builtins__"]
        while stack:
            thing, path, depth = stack.pop()
            if id(thing) in seen or depth > 4 or len(seen) > 20000:
                continue
            seen.add(id(thing))
            kind = type(thing)
            bases = type.__dict__["__mro__"].__get__(kind) or ()  # 3.9 has a class without
            if not self.INNER.isdisjoint(bases) or id(thing) in self.hidden or thing is self.language.library or kind is dict and id(thing) in self.modules \
                    or type in bases and type in type.__dict__["__mro__"].__get__(thing):
                return "the script holds %s: %s" % (path, object.__repr__(thing)[:100])
            if issubclass(kind, dict):
                stack.extend((v, path + "{}", depth + 1) for v in list(dict.values(thing))[:200])
                stack.extend((v, path + "{}", depth + 1) for v in list(dict.keys(thing))[:200])
            elif issubclass(kind, (list, tuple)):
                stack.extend((v, path + "[]", depth + 1) for v in list(kind.__iter__(thing) if kind in (list, tuple) else ())[:200])
            elif kind.__module__ == "__main__":
                try:
                    stack.extend((v, path + ".", depth + 1) for v in list(object.__getattribute__(thing, "__dict__").values()))
                except Exception:
                    pass
        return None

    # What may come to a class of the library while it is used.
    ADDED = {"__slotnames__", "__annotations__", "__annotations_cache__", "__annotate_func__", "__abstractmethods__", "pattern",
             "__doc__", "__orig_class__", "__parameters__", "__match_args__", "_value_", "_name_", "__objclass__", "_sort_order_"}

    def state(self):
        found = {}
        dict_of = self.namespace["DICT_OF"]
        for name, facade in self.language.facades.items():
            found["module " + name] = {n: id(v) for n, v in facade.__dict__.items()}
        for kind in self.language.library:
            if kind.__module__ == "__main__" or kind is Oracle or kind is Maker:
                continue
            entries = dict_of(kind)
            found["class %s.%s %d" % (kind.__module__, kind.__qualname__, id(kind))] = {
                n: id(v) if type(v) is types.FunctionType else 0 for n, v in entries.items() if n not in self.ADDED}
            for n, v in entries.items():
                if type(v) is types.FunctionType:
                    found["function %s.%s %s %d" % (kind.__qualname__, n, v.__name__, id(v))] = {
                        "code": id(v.__code__), "defaults": id(v.__defaults__),
                        "names": len([a for a in v.__dict__ if a not in self.ADDED])}
        found["builtins"] = {n: id(v) for n, v in vars(builtins).items() if n != "_"}
        found["given"] = {n: id(v) for n, v in self.language.builtins.items()}
        return found

    def changed(self):
        after = self.state()
        for name, entries in self.before.items():
            if after.get(name) != entries:
                now = after.get(name) or {}
                return "%s changed: %s" % (name, sorted(k for k in set(entries) | set(now) if entries.get(k) != now.get(k))[:5])
        return None


# ---- running

def limit():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_ONE, BYTES_OF_ONE))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_OF_ONE, SECONDS_OF_ONE + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS_OF_ONE + 1)
    null = os.open(os.devnull, os.O_RDWR)
    for number in 0, 1, 2:
        os.dup2(null, number)


def run(code, oracle):
    """Runs a script here, and gives what is wrong."""
    language = oracle.language
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    space = main.__dict__
    space["__builtins__"] = language.builtins
    space["result"], space["context"] = None, {}
    why = None
    oracle.active = True
    try:
        exec(code, space)
    except BaseException as error:
        if isinstance(error, SystemError):
            why = "SystemError: %.200s" % error
        error = None
    oracle.active = False
    if oracle.seen:
        return oracle.seen[0]
    return why or oracle.held(space) or oracle.changed()


def in_child(work):
    """What work gives, of a child with limits: (status, value)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            limit()
            value = work()
            data = json.dumps(value).encode()
            while data:
                data = data[os.write(writing, data):]
        except MemoryError:
            os._exit(3)
        except RecursionError:
            os._exit(3)
        except BaseException as error:
            try:
                os.write(writing, json.dumps("the oracle failed: %r" % (error,)).encode())
            except BaseException:
                pass
            os._exit(4)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        data = pipe.read()
    status = os.waitpid(child, 0)[1]
    try:
        return status, json.loads(data) if data else None
    except ValueError:
        return status, None


OURS = {signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL}


def main():
    path, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    with open(path, encoding="utf-8") as file:
        source = file.read()
    namespace = {"__name__": "language"}
    exec(compile(source, "<language>", "exec"), namespace)
    language = namespace["Language"](MODULES, [])
    language.load(sorted(language.modules))
    oracle = Oracle(language, namespace)
    benign = list(corpus("benign"))

    def learn():
        oracle.learning, oracle.before = True, {}
        for script in benign:
            try:
                run(language.compiled(script, SCRIPT), oracle)
            except namespace["Refused"]:
                pass
        return [sorted(oracle.known, key=str), sorted(oracle.words)]

    global SECONDS_OF_ONE
    SECONDS_OF_ONE, kept = 60, SECONDS_OF_ONE
    status, learned = in_child(learn)
    SECONDS_OF_ONE = kept
    if not isinstance(learned, list):
        raise SystemExit("the benign cells cannot be run: status %d, %s" % (status, learned))
    oracle.known = {(event, tuple(place) if place else place, what) for event, place, what in learned[0]}
    oracle.words = set(learned[1])
    oracle.before = oracle.state()

    choice = random.Random(seed)
    maker = Maker(benign + list(corpus("attempts")), choice)
    findings, runs, accepted, reasons = [], 0, 0, set()
    end = time.monotonic() + seconds
    while time.monotonic() < end and len(findings) < 50:
        try:
            script = maker.make()
        except (RecursionError, ValueError, AttributeError, TypeError, KeyError, IndexError, AssertionError):
            continue  # no tree that can be written out
        runs += 1
        try:
            code = language.compiled(script, SCRIPT)
        except (namespace["Refused"],) + REFUSALS:
            continue
        except BaseException as error:
            why = "the rules failed: %s: %.200s" % (type(error).__name__, error)
        else:
            accepted += 1
            status, why = in_child(lambda: run(code, oracle))
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) not in OURS:
                why = "died by signal %d" % os.WTERMSIG(status)
        kind = why and re.sub(r"\d+|0x[0-9a-f]+", "", why)[:80]
        if why and kind not in reasons:
            reasons.add(kind)
            findings.append({"script": script, "why": why})
    print(json.dumps({"runs": runs, "accepted": accepted, "findings": findings}, indent=1))
    raise SystemExit(1 if findings else 0)


if __name__ == "__main__":
    main()
