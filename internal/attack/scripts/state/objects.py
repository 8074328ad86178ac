# attack: find objects of the previous run in the collector's lists
# class: 19
# walls: environment

import gc

class LeftBehind:
    pass

kept = LeftBehind()
kept.itself = kept
kept.secret = ["left", "behind"]
gc.callbacks.append(lambda *a, kept=kept: None)
gc.freeze()
result = {"escaped": False, "detail": "left some"}
# --- next run ---
import gc

def attempt():
    found = [o for o in gc.get_objects() if type(o).__name__ == "LeftBehind" or isinstance(o, type) and o.__name__ == "LeftBehind"]
    gc.unfreeze()
    found += [o for o in gc.get_objects() if type(o).__name__ == "LeftBehind"]
    return (found or gc.callbacks) and "found %d objects, %d callbacks" % (len(found), len(gc.callbacks))

result = judged(attempt)
