# attack: raise the limit on open files, and open more
# class: 7
# walls: rlimit seccomp
# absent: resource
# limits: open_files=64

import resource

def attempt():
    try:
        raise_limit()
    except Absent:
        pass  # the limit that stands is tried all the same
    opened = 0
    while opened < 200:
        os.dup(0)
        opened += 1
    return "holds %d descriptors" % opened

def raise_limit():
    for wanted in ((1 << 20, 1 << 20), (1000, 1000), (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, wanted)
        except (OSError, ValueError):
            pass

result = judged(attempt)
