# attack: find the previous run's context and source in memory
# class: 19
# walls: environment

# The text is built here, so that no source contains it.
own = "-".join(["left", "behind", context["marker"]])
context["note"] = [own]
sys.left_note = context
result = {"escaped": False, "detail": "kept a note"}
# --- next run ---
import gc

def attempt():
    seen = set()
    for holder in gc.get_objects():
        if isinstance(holder, (dict, list, tuple)) and id(holder) not in seen:
            seen.add(id(holder))
            values = list(holder.values()) if isinstance(holder, dict) else holder
            for v in values:
                if type(v) is str and v.startswith("left-") and v.endswith(context["marker"]):
                    return "found the note of the run before"

result = judged(attempt)
