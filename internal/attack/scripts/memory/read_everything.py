# attack: search all of memory for the host's secrets, with code that uses numbers as objects
# class: 13
# walls: pid seccomp uid rlimit
# needs: memory
# limits: wall_time=8s memory=64MiB
# expect: held outcome:signaled outcome:timed_out outcome:out_of_cpu
# naked: no a crash affects only the script

# The secret starts with a known mark, followed by 16 digits that only the host knows. It
# is printed as soon as it is found: reading the next page may end the guest.
def attempt():
    known = context["mark"].encode() + b"-memory-"
    place, size = (0, 1 << 16) if sys.platform == "wasi" else (id(os) & ~0xFFFF, 1 << 16)
    while place + size < 1 << 8 * struct.calcsize("P"):
        found = bytes(view(place, size)[:])
        for at in range(found.count(known)):
            found = found[found.index(known):]
            os.write(1, b"at %d: " % place + found[:len(known) + 16] + b"\n")
            found = found[1:]
        place += size - 64
    return "read all %d bytes" % place

result = judged(attempt)
# --- next run ---
result = {"escaped": sum(range(10)) != 45, "detail": "the next one finds all in order"}
