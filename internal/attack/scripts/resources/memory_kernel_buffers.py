# attack: use memory that the kernel holds for pipes and sockets
# class: 7
# walls: rlimit cgroup
# absent: fcntl os.pipe
# limits: memory=64MiB open_files=64
# expect: held outcome:out_of_memory

import fcntl, socket

def attempt():
    kept, total, block = [], 0, b"x" * 65536
    def fill(end, write):
        nonlocal total
        try:
            while True:
                total += write(block)
        except BlockingIOError:
            pass
    try:
        while total < 80 << 20 and len(kept) < 2000:
            r, w = os.pipe()
            os.set_blocking(w, False)
            kept += [r, w]
            try:
                fcntl.fcntl(w, 1031, 1 << 20)
            except OSError:
                pass
            fill(w, lambda data: os.write(w, data))
            a, b = socket.socketpair()
            kept += [a, b]
            for end in (a, b):
                end.setblocking(False)
                fill(end, end.send)
    except OSError as e:
        if total > 64 << 20:
            return "the kernel holds %d MiB" % (total >> 20)
        raise Held("the kernel holds %d KiB, then: %s" % (total >> 10, e))
    return "the kernel holds %d MiB" % (total >> 20)

result = judged(attempt)
