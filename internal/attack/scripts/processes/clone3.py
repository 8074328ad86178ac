# attack: make a child with clone3, whose flags no filter can see
# class: 1
# walls: seccomp
# needs: syscall
# absent: os.waitpid

import struct

def attempt():
    arguments = struct.pack("11Q", 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    pid = syscall("clone3", arguments, 64)
    if pid == 0:
        os._exit(7)
    return "had child %s" % (os.waitpid(pid, 0),)

result = judged(attempt)
