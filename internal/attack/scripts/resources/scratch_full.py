# attack: write more into the scratch space than its limit
# class: 7
# walls: mount landlock cgroup
# needs: scratch
# limits: scratch=16MiB
# expect: held outcome:out_of_memory

def attempt():
    here, total, block = scratch(), 0, b"x" * (1 << 20)
    try:
        for n in range(4):
            fd = os.open(os.path.join(here, "f%d" % n), os.O_CREAT | os.O_WRONLY, 0o600)
            for _ in range(16):
                total += os.write(fd, block)
    finally:
        if total > 20 << 20:
            return "wrote %d MiB" % (total >> 20)

result = judged(attempt)
