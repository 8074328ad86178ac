#: exception-hierarchy
#: An exception hierarchy with context, chaining and custom text.
class AppError(Exception):
    code = 500

    def __init__(self, message, **details):
        super().__init__(message)
        self.details = details

    def __str__(self):
        base = super().__str__()
        if self.details:
            base += " [" + ", ".join(f"{k}={v}" for k, v in sorted(self.details.items())) + "]"
        return base


class NotFound(AppError):
    code = 404


class Conflict(AppError):
    code = 409


class StorageError(AppError):
    pass


def load(store, key):
    try:
        return store[key]
    except KeyError as e:
        raise NotFound(f"no record {key}", key=key) from e


def save(store, key, value):
    if key in store:
        raise Conflict("exists", key=key, old=store[key])
    try:
        store[key] = int(value)
    except ValueError as e:
        raise StorageError("cannot store") from e


def attempt(f, *args):
    try:
        value = f(*args)
    except NotFound as e:
        return [e.code, str(e), type(e.__cause__).__name__, e.__cause__.args[0]]
    except AppError as e:
        cause = e.__cause__
        return [e.code, str(e), cause and str(cause)]
    else:
        return [200, value]
    finally:
        LOG.append(f.__name__)


LOG, store = [], {"a": 1}
result = [attempt(load, store, "a"), attempt(load, store, "b"), attempt(save, store, "a", 2), attempt(save, store, "c", "x"), attempt(save, store, "d", "4"), LOG, issubclass(NotFound, AppError), store]
#= [[200, 1], [404, "no record b [key=b]", "KeyError", "b"], [409, "exists [key=a, old=1]", null], [500, "cannot store", "invalid literal for int() with base 10: 'x'"], [200, null], ["load", "load", "save", "save", "save"], true, {"a": 1, "d": 4}]

#: exception-flow
#: try, except, else, finally with returns, loops, re-raise and suppressed context.
def order(log, fail):
    try:
        log.append("try")
        if fail:
            raise ValueError("x")
    except ValueError:
        log.append("except")
        return "handled"
    else:
        log.append("else")
        return "fine"
    finally:
        log.append("finally")


def first_good(candidates, parse):
    for c in candidates:
        try:
            value = parse(c)
        except (ValueError, TypeError) as e:
            last = e
            continue
        else:
            break
        finally:
            TRIED.append(c)
    else:
        raise ValueError(f"none of {len(candidates)}") from last
    return value


def reraise():
    try:
        try:
            1 / 0
        except ZeroDivisionError:
            SEEN.append("inner")
            raise
    except ArithmeticError as e:
        SEEN.append(type(e).__name__)
        raise RuntimeError("clean") from None


TRIED, SEEN = [], []
logs = [[], []]
outcomes = [order(logs[0], False), order(logs[1], True), first_good(["x", None, "7", "8"], int)]
try:
    first_good(["a", "b"], float)
except ValueError as e:
    outcomes.append(f"{e} / {e.__cause__}")
try:
    reraise()
except RuntimeError as e:
    outcomes.append([str(e), e.__cause__ is None])
result = [logs, outcomes, TRIED, SEEN]
#= [[["try", "else", "finally"], ["try", "except", "finally"]], ["fine", "handled", 7, "none of 2 / could not convert string to float: 'b'", ["clean", true]], ["x", null, "7", "a", "b"], ["inner", "ZeroDivisionError"]]

#: builtin-exceptions
#: The builtin exceptions that ordinary mistakes raise, with their arguments.
import json


class Thing:
    def __init__(self):
        self.size = 1


def recurse(n):
    return recurse(n + 1)


mistakes = {
    "index": lambda: [1, 2][5],
    "key": lambda: {"a": 1}["b"],
    "attribute": lambda: Thing().colour,
    "type": lambda: "a" + 1,
    "value": lambda: int("twelve"),
    "zero": lambda: 1 // 0,
    "name": lambda: undefined_name,
    "unpack": lambda: (lambda a, b: a)(*[1, 2, 3]),
    "iter": lambda: next(iter([])),
    "decode": lambda: b"\xff".decode("utf-8"),
    "encode": lambda: "é".encode("ascii"),
    "json": lambda: json.loads("{"),
    "overflow": lambda: 2.0 ** 10000,
    "recursion": lambda: recurse(0),
    "assertion": lambda: (_ for _ in ()).throw(AssertionError("checked")),
    "not_implemented": lambda: (_ for _ in ()).throw(NotImplementedError),
}
caught = {}
for name, f in mistakes.items():
    try:
        f()
    except Exception as e:
        caught[name] = type(e).__name__
        if isinstance(e, UnicodeError):
            caught[name] += f" {e.start}-{e.end} {e.encoding}"
        elif isinstance(e, (KeyError, AssertionError)):
            caught[name] += f" {e.args}"
        elif isinstance(e, LookupError):
            caught[name] += " lookup"
try:
    assert len(caught) == 3, f"got {len(caught)}"
except AssertionError as e:
    caught["assert"] = str(e)
result = caught
#= {"index": "IndexError lookup", "key": "KeyError ('b',)", "attribute": "AttributeError", "type": "TypeError", "value": "ValueError", "zero": "ZeroDivisionError", "name": "NameError", "unpack": "TypeError", "iter": "StopIteration", "decode": "UnicodeDecodeError 0-1 utf-8", "encode": "UnicodeEncodeError 0-1 ascii", "json": "JSONDecodeError", "overflow": "OverflowError", "recursion": "RecursionError", "assertion": "AssertionError ('checked',)", "not_implemented": "NotImplementedError", "assert": "got 16"}

#: exception-notes
#: Notes on exceptions, added on the way up.
#: since 3.11
class ParseError(Exception):
    pass


def parse_cell(text):
    try:
        return float(text)
    except ValueError as e:
        e.add_note(f"cell {text!r}")
        raise


def parse_row(number, row):
    try:
        return [parse_cell(c) for c in row.split(",")]
    except ValueError as e:
        e.add_note(f"row {number}")
        raise ParseError("bad table") from e


notes = []
rows = []
for n, row in enumerate(["1,2", "3,x", "5"], 1):
    try:
        rows.append(parse_row(n, row))
    except ParseError as e:
        notes = e.__cause__.__notes__
        e.add_note("skipped")
        text = str(e)
result = [rows, notes, text]
#= [[[1.0, 2.0], [5.0]], ["cell 'x'", "row 2"], "bad table"]

#: error-collector
#: Collects several errors, with retries, back-off and a summary.
class ValidationError(ValueError):
    def __init__(self, field, problem):
        super().__init__(f"{field}: {problem}")
        self.field, self.problem = field, problem


class Collector:
    def __init__(self, *kinds):
        self.kinds, self.errors = kinds, []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, tb):
        if error is not None and isinstance(error, self.kinds):
            self.errors.append(error)
            return True
        return False

    def check(self, field, ok, problem):
        if not ok:
            self.errors.append(ValidationError(field, problem))

    def raise_all(self):
        if self.errors:
            raise ValidationError("form", f"{len(self.errors)} problems")


def validate(form):
    c = Collector(KeyError, ValueError)
    with c:
        age = int(form["age"])
        c.check("age", age >= 18, "too young")
    with c:
        c.check("mail", "@" in form["mail"], "no @")
    with c:
        c.check("name", form["name"].strip(), "empty")
    return c


def backoff(task, attempts=4):
    delay, waited = 1, []
    for attempt in range(attempts):
        try:
            return task(attempt), waited
        except ConnectionError as e:
            waited.append(delay)
            delay *= 2
            error = e
    raise TimeoutError(f"gave up after {sum(waited)} s") from error


def unstable(attempt):
    if attempt < 2:
        raise ConnectionError(f"try {attempt}")
    return "connected"


def down(attempt):
    raise ConnectionResetError("reset")


c = validate({"age": "12", "mail": "x", "name": " "})
d = validate({"age": "old", "name": "Bob"})
messages = [[f"{type(e).__name__} {e}" for e in x.errors] for x in (c, d)]
try:
    c.raise_all()
except ValueError as e:
    messages.append([e.field, e.problem])
try:
    backoff(down)
except OSError as e:
    messages.append([str(e), type(e.__cause__).__name__])
result = [messages, backoff(unstable)]
#= [[["ValidationError age: too young", "ValidationError mail: no @", "ValidationError name: empty"], ["ValueError invalid literal for int() with base 10: 'old'", "KeyError 'mail'"], ["form", "3 problems"], ["gave up after 15 s", "ConnectionResetError"]], ["connected", [1, 2]]]

#: result-type
#: Errors as values: a Result type with map, and_then and pattern helpers.
class Result:
    @staticmethod
    def of(f, *args):
        try:
            return Ok(f(*args))
        except Exception as e:
            return Err(e)


class Ok(Result):
    def __init__(self, value):
        self.value = value

    def map(self, f):
        return Result.of(f, self.value)

    def and_then(self, f):
        return f(self.value)

    def unwrap_or(self, default):
        return self.value

    def __repr__(self):
        return f"Ok({self.value!r})"

    def __bool__(self):
        return True


class Err(Result):
    def __init__(self, error):
        self.error = error

    def map(self, f):
        return self

    and_then = map

    def unwrap_or(self, default):
        return default

    def __repr__(self):
        return f"Err({type(self.error).__name__}: {self.error})"

    def __bool__(self):
        return False


def half(n):
    return Ok(n // 2) if n % 2 == 0 else Err(ValueError(f"{n} is odd"))


def sequence(results):
    values = []
    for r in results:
        if not r:
            return r
        values.append(r.value)
    return Ok(values)


result = [
    repr(Result.of(int, "12").map(lambda n: n + 2).and_then(half)),
    repr(Result.of(int, "x").map(lambda n: n + 2)),
    repr(Ok(6).and_then(half).and_then(half)),
    Result.of(lambda: 1 / 0).unwrap_or(-1),
    repr(sequence([Ok(1), Ok(2)])),
    repr(sequence([Ok(1), Err(KeyError("k")), Ok(2)])),
    repr(Ok(0).map(lambda z: 5 / z)),
]
#= ["Ok(7)", "Err(ValueError: invalid literal for int() with base 10: 'x')", "Err(ValueError: 3 is odd)", -1, "Ok([1, 2])", "Err(KeyError: 'k')", "Err(ZeroDivisionError: division by zero)"]
