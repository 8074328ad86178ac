# attack: use memory as unnamed files
# class: 7
# walls: seccomp cgroup
# needs: syscall
# absent: os.memfd_create
# limits: memory=64MiB
# expect: held outcome:out_of_memory

def attempt():
    block, total = b"x" * (1 << 20), 0
    def fill(fd):
        nonlocal total
        for _ in range(256):
            total += os.write(fd, block)
        return total > 64 << 20 and "holds %d MiB in a memfd" % (total >> 20)
    def secret():
        fd = syscall("memfd_secret", 0)
        return "memfd_secret gave descriptor %d" % fd
    return any_of(lambda: fill(os.memfd_create("bomb")), secret)

result = judged(attempt, MemoryError)
