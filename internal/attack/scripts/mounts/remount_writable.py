# attack: make the interpreter's files writable with a remount
# class: 1
# walls: seccomp capabilities landlock
# needs: syscall
# naked: no it would change the machine's mounts

import struct

def attempt():
    directory = os.path.dirname(library()).encode()
    def remount(path):
        def route():
            syscall("mount", b"none", path, b"", 0x20 | 0x1000, 0)
            return "remounted %r" % path
        return route
    def set_attributes():
        syscall("mount_setattr", -100, directory, 0x8000, struct.pack("QQQQ", 0, 1, 0, 0), 32)
        return "cleared read-only by mount_setattr"
    return any_of(remount(b"/"), remount(directory), remount(b"/tmp"), set_attributes)

result = judged(attempt)
