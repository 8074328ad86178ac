# attack: mount a file system, a copy of the root, or proc
# class: 1
# walls: seccomp capabilities landlock
# needs: syscall
# naked: root

def attempt():
    here = somewhere().encode()
    def mount(source, kind, flags):
        def route():
            before = os.stat(here).st_dev, os.listdir(here)
            syscall("mount", source, here, kind, flags, 0)
            seen = os.stat(here).st_dev, os.listdir(here)
            syscall("umount2", here, 2)
            return seen != before and "mounted %s: %s" % (source, seen)
        return route
    return any_of(mount(b"tmpfs", b"tmpfs", 0), mount(b"proc", b"proc", 0), mount(b"/", b"", 0x1000), mount(b"sysfs", b"sysfs", 0))

result = judged(attempt)
