# attack: leave variables in the modules that every script shares
# class: 19
# walls: environment

import builtins, __main__

builtins.left_behind = __main__.left_behind = sys.left_behind = "from the first run"
os.left_behind = "from the first run"
result = {"escaped": False, "detail": "left them"}
# --- next run ---
import builtins, __main__

def attempt():
    places = [m.__name__ for m in (builtins, __main__, sys, os) if hasattr(m, "left_behind")]
    return places and "found them in " + " ".join(places)

result = judged(attempt)
