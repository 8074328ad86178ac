# attack: read a secret at its address in the host's memory, with code that takes numbers for objects
# class: 13
# walls: pid seccomp uid rlimit
# needs: memory
# expect: held outcome:signaled
# naked: no a crash would harm nobody else

def attempt():
    address, size = need("memory_address"), need("memory_size")
    most = 1 << 8 * struct.calcsize("P")
    # Some address is always there, and most often it is the guest's own: the host looks
    # whether these bytes are its secret.
    raise Held("read %r" % bytes(view(address % most, size)[:]))

result = judged(attempt)
# --- next run ---
# Where pointers are too short for the address, what is added to them may not be.
def attempt():
    address, size = need("memory_address"), need("memory_size")
    most = 1 << 8 * struct.calcsize("P")
    whole = view(0, most // 2 - 1)
    at = address % (most // 2)
    raise Held("read %r" % bytes(whole[at:at + size]))

result = judged(attempt)
