# attack: leave variables in the environment of Python and of libc
# class: 19
# walls: environment
# absent: os.umask

os.environ["LEFT_BEHIND"] = "from the first run"
try:
    os.umask(0o123)
except Absent:
    pass
here = os.getcwd()
os.chdir(os.path.dirname(library()))
result = {"escaped": False, "detail": "left one", "here": here}
# --- next run ---
def attempt():
    found = []
    if os.environ.get("LEFT_BEHIND") or os.getenv("LEFT_BEHIND"):
        found.append("variable")
    try:
        if os.umask(0o022) == 0o123:
            found.append("umask")
    except Absent:
        pass
    if os.getcwd() != context["previous"]["here"]:
        found.append("working directory " + os.getcwd())
    return found and "found " + ", ".join(found)

result = judged(attempt)
