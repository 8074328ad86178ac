# attack: leave files in the scratch space for the next run
# class: 19
# walls: mount landlock
# needs: scratch

here = os.environ.get("TMPDIR", "/tmp")
left = []
for name in ("left_behind", ".left_behind", "left_behind.py"):
    try:
        with open(os.path.join(here, name), "w") as f:
            f.write("from the first run")
        left.append(name)
    except OSError:
        pass
result = {"escaped": False, "detail": "left %s" % left}
# --- next run ---
def attempt():
    here = os.environ.get("TMPDIR", "/tmp")
    found = [n for n in os.listdir(here) if "left_behind" in n]
    return found and "found " + " ".join(found)

result = judged(attempt)
