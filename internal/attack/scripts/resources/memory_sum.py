# attack: use each kind of memory up to its own limit, so that the sum is above the limit
# class: 7
# walls: rlimit cgroup
# absent: mmap
# limits: memory=64MiB scratch=16MiB open_files=64
# expect: held outcome:out_of_memory
# naked: yes

import mmap

# More than one and a half times memory and scratch together is a gain.
MOST = (64 + 16) * 3 // 2 << 20

def attempt():
    kept, total = [], 0
    def anonymous():
        kept.append(bytearray(b"x") * (2 << 20))
        return 2 << 20
    def shared():
        kept.append(mmap.mmap(-1, 2 << 20, flags=mmap.MAP_SHARED))
        kept[-1].write(b"x" * (2 << 20))
        return 2 << 20
    def file():
        fd = os.open(os.path.join(os.environ.get("TMPDIR", "/tmp"), "sum%d" % len(kept)), os.O_CREAT | os.O_RDWR, 0o600)
        kept.append(fd)
        return os.write(fd, b"x" * (2 << 20))
    for more in (file, shared, anonymous):
        try:
            for _ in range(40):
                total += more()
        except (OSError, MemoryError, Absent):
            continue
    held = total
    kept.clear()
    return held > MOST and "held %d MiB in sum" % (held >> 20)

result = judged(attempt, MemoryError)
