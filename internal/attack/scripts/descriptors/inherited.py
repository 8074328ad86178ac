# attack: find descriptors that the host left open, and read them
# class: 11
# walls: environment

import stat

# Only the standard streams and the result's channel may be open, and on WebAssembly
# the granted directories: see descriptors/directories.
def attempt():
    found = []
    for fd in list(range(4, 1100)) + [2000, 4096, 65535, 100000]:
        try:
            info = os.fstat(fd)
        except OSError:
            continue
        if sys.platform == "wasi" and stat.S_ISDIR(info.st_mode):
            continue
        try:
            found.append("%d says %r" % (fd, os.pread(fd, 200, 0)))
        except OSError as e:
            found.append("%d is open (%s)" % (fd, e))
    return found and "descriptor " + ", ".join(found)

result = judged(attempt)
