# attack: replace open, print and __import__ for the next run
# class: 19
# walls: environment

import builtins

class Wrapper:
    def __init__(self, original):
        self.original = original
    def __call__(self, *a, **k):
        return self.original(*a, **k)

for name in ("open", "print", "__import__", "len"):
    setattr(builtins, name, Wrapper(getattr(builtins, name)))
result = {"escaped": False, "detail": "replaced them"}
# --- next run ---
import builtins

def attempt():
    changed = [n for n in ("open", "print", "__import__", "len") if type(getattr(builtins, n)).__name__ == "Wrapper"]
    return changed and "still replaced: " + " ".join(changed)

result = judged(attempt)
