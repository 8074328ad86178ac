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
    except (OSError, Missing):
        pass
result = {"escaped": False, "detail": "left %s" % left}
# --- next run ---
KEY = 0x1EF7BE1D

# What is found is also taken away.
def attempt():
    def segment():
        n = syscall("shmget", KEY, 0, 0)
        libc().shmctl(n, 0, None)
        return "found the segment"
    def queue():
        n = syscall("msgget", KEY, 0)
        libc().msgctl(n, 0, None)
        return "found the queue"
    def key():
        return "found key %d" % syscall("request_key", b"user", b"left_behind", 0, 0)
    return any_of(segment, queue, key)

result = judged(attempt)
