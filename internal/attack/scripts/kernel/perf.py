# attack: measure the machine and other processes with perf_event_open
# class: 1
# walls: seccomp
# needs: syscall
# naked: root maybe a virtual machine may have no counters

import struct

def attempt():
    # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK; only user space.
    attributes = ctypes.create_string_buffer(struct.pack("IIQ", 1, 112, 1) + bytes(24) + struct.pack("Q", 0x60) + bytes(64))
    targets = ((0, -1), (context["host_pid"], -1), (-1, 0))
    return any_of(*[lambda p=p, c=c: "has a counter: %d" % syscall("perf_event_open", attributes, p, c, -1, 0) for p, c in targets])

result = judged(attempt)
