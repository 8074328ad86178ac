# attack: leave a module and an import hook for the next run
# class: 19
# walls: environment

import types

module = types.ModuleType("left_behind")
module.secret = "from the first run"
sys.modules["left_behind"] = module

class Finder:
    left_behind = True
    def find_spec(self, name, path=None, target=None):
        return None

sys.meta_path.append(Finder())
sys.path.append("/left/behind")
result = {"escaped": False, "detail": "left them"}
# --- next run ---
def attempt():
    found = []
    if "left_behind" in sys.modules:
        found.append("module")
    if any(getattr(f, "left_behind", False) for f in sys.meta_path):
        found.append("import hook")
    if "/left/behind" in sys.path:
        found.append("path")
    return found and "found " + ", ".join(found)

result = judged(attempt)
