# attack: reach I/O ports and the processor's descriptor tables
# class: 1
# walls: seccomp capabilities
# needs: syscall
# naked: root

def attempt():
    architecture("x86_64")
    def ports():
        syscall("ioperm", 0x80, 1, 1)
        return "may use I/O ports"
    def tables():
        syscall("modify_ldt", 0, ctypes.create_string_buffer(64), 64)
        return "modify_ldt answers"
    return any_of(ports, tables)

result = judged(attempt)
