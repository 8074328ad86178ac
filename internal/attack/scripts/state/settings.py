# attack: leave settings for the next run: decimal context, locale, warnings, recursion limit, codecs
# class: 19
# walls: environment

import codecs, decimal, warnings

decimal.getcontext().prec = 3
sys.setrecursionlimit(777)
sys.setswitchinterval(0.5)
warnings.simplefilter("error")
codecs.register(lambda name: codecs.lookup("utf-8") if name == "left_behind" else None)
result = {"escaped": False, "detail": "left them"}
# --- next run ---
import decimal

def attempt():
    found = []
    if decimal.getcontext().prec == 3:
        found.append("decimal precision")
    if sys.getrecursionlimit() == 777:
        found.append("recursion limit")
    if sys.getswitchinterval() == 0.5:
        found.append("switch interval")
    try:
        "x".encode("left_behind")
        found.append("codec")
    except LookupError:
        pass
    return found and "found " + ", ".join(found)

result = judged(attempt)
