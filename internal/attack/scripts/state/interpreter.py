# attack: leave changes in the interpreter itself: hooks, streams, collector, locale, classes, loggers, open files
# class: 19
# walls: environment

import asyncio, collections, gc, io, json, linecache, locale, logging, time, warnings

def left_behind(*args, **kwargs):
    return None

gc.disable()
gc.set_threshold(1, 1, 1)
sys.displayhook = sys.unraisablehook = left_behind
sys.path_hooks.append(left_behind)
sys.path_importer_cache["/left/behind"] = None
sys.dont_write_bytecode = not sys.dont_write_bytecode
sys.setrecursionlimit(543)
sys.stdin = io.StringIO("left behind")
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(777)
os.environ["TZ"] = "LFT+7"
if hasattr(time, "tzset"):
    time.tzset()
try:
    locale.setlocale(locale.LC_ALL, "C")
except locale.Error:
    pass
collections.Counter.left_behind = 1
json.encoder.left_behind = open(library(), "rb")
linecache.cache["left"] = (1, None, ["behind"], "left")
logging.getLogger().addHandler(logging.NullHandler())
logging.getLogger().setLevel(1)
warnings.showwarning = left_behind
sys.modules["this"] = None
asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
sys.set_asyncgen_hooks(left_behind, left_behind)
own_space()["left_behind"] = left_behind
if "_cordon" in own_space():
    own_space()["_cordon"].left_behind = left_behind
result = {"escaped": False, "detail": "left them", "kept": [gc.get_threshold(), sys.dont_write_bytecode]}
# --- next run ---
import asyncio, collections, gc, json, linecache, logging, time, warnings

def attempt():
    space = own_space()
    named = lambda thing: getattr(thing, "__name__", "") == "left_behind"
    found = {
        "collector": not gc.isenabled() or gc.get_threshold() == (1, 1, 1),
        "display hook": named(sys.displayhook) or named(sys.unraisablehook),
        "path hook": any(map(named, sys.path_hooks)) or "/left/behind" in sys.path_importer_cache,
        "bytecode flag": sys.dont_write_bytecode == context["previous"]["kept"][1],
        "recursion limit": sys.getrecursionlimit() == 543,
        "standard input": type(sys.stdin).__name__ == "StringIO",
        "digits": getattr(sys, "get_int_max_str_digits", lambda: 0)() == 777,
        "time zone": os.environ.get("TZ") == "LFT+7" or time.tzname[0] == "LFT",
        "class": hasattr(collections.Counter, "left_behind"),
        "open file": hasattr(json.encoder, "left_behind"),
        "lines": "left" in linecache.cache,
        "logger": logging.getLogger().level == 1 or bool(logging.getLogger().handlers),
        "warnings": named(warnings.showwarning),
        "module": "this" in sys.modules,
        "hooks of generators": any(map(named, sys.get_asyncgen_hooks())),
        "cordon's own names": "left_behind" in space or hasattr(space.get("_cordon"), "left_behind"),
    }
    return any(found.values()) and "found " + ", ".join(name for name, left in found.items() if left)

result = judged(attempt)
