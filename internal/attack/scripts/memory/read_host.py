# attack: read a secret at its address in the host's memory, with code that uses numbers as objects
# class: 13
# walls: pid seccomp uid rlimit
# needs: memory
# expect: held outcome:signaled
# naked: no a crash affects only the script

def attempt():
    address, size = need("memory_address"), need("memory_size")
    most = 1 << 8 * struct.calcsize("P")
    # The address usually exists, but in the guest's own memory: the host checks whether
    # these bytes are its secret.
    raise Held("read %r" % bytes(view(address % most, size)[:]))

result = judged(attempt)
# --- next run ---
# Where pointers are too short for the address, an offset that is added may reach it.
def attempt():
    address, size = need("memory_address"), need("memory_size")
    most = 1 << 8 * struct.calcsize("P")
    whole = view(0, most // 2 - 1)
    at = address % (most // 2)
    raise Held("read %r" % bytes(whole[at:at + size]))

result = judged(attempt)
