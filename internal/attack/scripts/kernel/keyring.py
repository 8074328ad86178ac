# attack: keep data in the kernel's keyrings, which outlive the run
# class: 8
# walls: seccomp
# needs: syscall

# -3 is the session's keyring, -4 the user's: every process of that uid has it.
def attempt():
    def add(ring):
        def route():
            key = syscall("add_key", b"user", context["marker"].encode(), b"kept", 4, ring)
            buffer = ctypes.create_string_buffer(16)
            syscall("keyctl", 11, key, buffer, 16, 0)
            syscall("keyctl", 9, key, ring, 0, 0)
            return "stored and read back %r" % buffer.value
        return route
    def own_ring():
        return "has keyring %d" % syscall("keyctl", 0, -4, 1, 0, 0)
    return any_of(add(-4), add(-3), add(-2), own_ring)

result = judged(attempt)
