# attack: switch off address randomization, or make all memory executable, with personality
# class: 1
# walls: seccomp
# needs: syscall

def attempt():
    def change(bits):
        def route():
            syscall("personality", bits)
            return syscall("personality", 0xFFFFFFFF) & bits and "personality is now %#x" % bits
        return route
    return any_of(change(0x0040000), change(0x0400000), change(0x0040000 | 1 << 32))

result = judged(attempt)
