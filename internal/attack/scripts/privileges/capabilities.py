# attack: hold capabilities, or take them from the inheritable or ambient sets
# class: 6
# walls: capabilities
# needs: syscall
# naked: root

import struct

def attempt():
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    def held():
        data = ctypes.create_string_buffer(24)
        syscall("capget", header, data)
        sets = struct.unpack("6I", data.raw)
        return any(sets) and "holds effective, permitted, inheritable %s" % (sets,)
    def take():
        syscall("capset", header, struct.pack("6I", *[0xFFFFFFFF] * 3, *[0x1FF] * 3))
        return held()
    def ambient():
        syscall("prctl", 47, 2, 21, 0, 0)
        return "raised an ambient capability"
    return any_of(held, take, ambient)

result = judged(attempt)
