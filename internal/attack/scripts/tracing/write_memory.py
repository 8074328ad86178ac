# attack: write to the host's memory with process_vm_writev
# class: 13
# walls: seccomp pid landlock uid
# needs: syscall
# naked: same-uid

import struct

def attempt():
    byte = ctypes.create_string_buffer(context["mark"][:1].encode(), 1)
    local = struct.pack("QQ", ctypes.addressof(byte), 1)
    # This writes the same first letter again: the write itself is the gain.
    n = syscall("process_vm_writev", context["host_pid"], local, 1, struct.pack("QQ", need("memory_address"), 1), 1, 0)
    return n == 1 and "wrote into process %d" % context["host_pid"]

result = judged(attempt)
