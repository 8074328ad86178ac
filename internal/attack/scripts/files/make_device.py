# attack: make a device node for the disk or the kernel's memory
# class: 20
# walls: capabilities seccomp landlock
# absent: os.makedev os.mknod
# naked: root

import stat

def attempt():
    here = somewhere()
    def make(kind, major, minor):
        path = os.path.join(here, "node-%d-%d" % (major, minor))
        os.mknod(path, kind | 0o666, os.makedev(major, minor))
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            return "made and opened device %d:%d" % (major, minor)
        except OSError as e:
            # nodev stops its use, but making the node is already a gain.
            return "made device %d:%d (opening it: %s)" % (major, minor, e)
        finally:
            os.unlink(path)
    return any_of(lambda: make(stat.S_IFCHR, 1, 11), lambda: make(stat.S_IFCHR, 5, 0), lambda: make(stat.S_IFBLK, 254, 0))

result = judged(attempt)
