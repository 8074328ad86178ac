# attack: use eight times the memory limit in ordinary objects
# class: 7
# walls: rlimit cgroup
# limits: memory=64MiB
# expect: held outcome:out_of_memory

def attempt():
    kept = []
    for _ in range(64):
        kept.append(bytearray(b"x") * (8 << 20))
    return "holds %d MiB" % (len(kept) * 8)

result = judged(attempt, MemoryError)
