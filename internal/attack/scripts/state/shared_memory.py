# attack: leave a System V segment, a key and a named object for the next run
# class: 8
# walls: ipc seccomp
# needs: syscall

KEY = 0x1EF7BE1D

left = []
for name, make in (("segment", lambda: syscall("shmget", KEY, 4096, 0o1666)), ("queue", lambda: syscall("msgget", KEY, 0o1666)),
                   ("key", lambda: syscall("add_key", b"user", b"left_behind", b"x", 1, -4))):
    try:
        make()
        left.append(name)
    except (OSError, Missing, Absent):
        pass
result = {"escaped": False, "detail": "left %s" % left}
# --- next run ---
KEY = 0x1EF7BE1D

# Whatever is found is removed.
def attempt():
    found = []
    for name, get, remove in (
        ("segment", lambda: syscall("shmget", KEY, 0, 0), lambda n: libc().shmctl(n, 0, None)),
        ("queue", lambda: syscall("msgget", KEY, 0), lambda n: libc().msgctl(n, 0, None)),
        ("key", lambda: syscall("request_key", b"user", b"left_behind", 0, 0), lambda n: syscall("keyctl", 9, n, -4, 0, 0)),
    ):
        try:
            remove(get())
            found.append(name)
        except OSError:
            pass
    return found and "found " + ", ".join(found)

result = judged(attempt)
