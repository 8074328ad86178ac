# attack: replace json.dumps for the next run
# class: 19
# walls: environment

import json

original = json.dumps
def poisoned(*a, **k):
    return original("stolen")
poisoned.__name__ = "poisoned"
json.dumps = poisoned
result = {"escaped": False, "detail": "replaced it"}
# --- next run ---
import json

result = judged(lambda: (json.dumps.__name__ == "poisoned" or json.dumps(1) != "1") and "json.dumps is still replaced")
