# attack: load programs and maps into the kernel with bpf
# class: 1
# walls: seccomp capabilities
# needs: syscall
# naked: root

import struct

def attempt():
    def make_map():
        attributes = struct.pack("IIIII", 2, 4, 8, 1, 0) + bytes(100)
        return "made a map: descriptor %d" % syscall("bpf", 0, attributes, len(attributes))
    def load_program():
        code = ctypes.create_string_buffer(struct.pack("BBhi", 0xB7, 0, 0, 0) + struct.pack("BBhi", 0x95, 0, 0, 0))
        text = ctypes.create_string_buffer(b"GPL")
        attributes = struct.pack("IIQQ", 1, 2, ctypes.addressof(code), ctypes.addressof(text)) + bytes(96)
        return "loaded a program: descriptor %d" % syscall("bpf", 5, attributes, len(attributes))
    return any_of(make_map, load_program)

result = judged(attempt)
