# attack: leave variables in the environment, of Python and of libc
# class: 19
# walls: environment

os.environ["LEFT_BEHIND"] = "from the first run"
os.umask(0o123)
os.chdir("/")
result = {"escaped": False, "detail": "left one"}
# --- next run ---
def attempt():
    found = []
    if os.environ.get("LEFT_BEHIND") or os.getenv("LEFT_BEHIND"):
        found.append("variable")
    if os.umask(0o022) == 0o123:
        found.append("umask")
    return found and "found " + ", ".join(found)

result = judged(attempt)
