# attack: replace compiled modules in __pycache__ so that others run them
# class: 19
# walls: mount landlock uid
# naked: root

import importlib.util

def attempt():
    def change():
        path = importlib.util.cache_from_source(library())
        with open(path, "r+b"):
            return "opened " + path + " for writing"
    def plant():
        path = importlib.util.cache_from_source(os.path.join(os.path.dirname(library()), context["marker"] + ".py"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb"):
            pass
        os.unlink(path)
        return "made " + path
    return any_of(change, plant)

result = judged(attempt)
