# attack: open a file 100,000 times, and keep all of them
# class: 7
# walls: rlimit
# limits: wall_time=10s cpu_time=8s
# expect: held outcome:out_of_memory
# naked: no a host may allow as many

def attempt():
    kept = []
    path = library()
    try:
        while len(kept) < 100000:
            kept.append(open(path, "rb", buffering=0))
    except OSError as e:
        if len(kept) > 10000:
            return "held %d files" % len(kept)
        raise
    return "held %d files" % len(kept)

result = judged(attempt)
