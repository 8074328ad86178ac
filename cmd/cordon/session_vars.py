def is_own(name, value):
    """What cordon put there, and names that begin with an underscore."""
    if name.startswith("_") or name in ("context", "result") and value is None:
        return True
    return name == "display" and getattr(getattr(value, "__code__", None), "co_filename", "") == "<cordon>"


def short(value):
    """One line of a bounded length, without the whole text of large containers."""
    try:
        return " ".join(shortener.repr(value).split())[:72]
    except Exception as error:
        return "(no repr: %s)" % type(error).__name__


import reprlib

shortener = reprlib.Repr()
shortener.maxstring = shortener.maxother = shortener.maxlong = 60
for name, value in sorted(names.items()):
    if isinstance(name, str) and not is_own(name, value):
        print(name, type(value).__name__, short(value), sep="\t")
