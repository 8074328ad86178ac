# attack: compare the kernel's pointers of two processes with kcmp, and probe pages with move_pages
# class: 1
# walls: seccomp
# needs: syscall

def attempt():
    def compare():
        return "kcmp answers %d" % syscall("kcmp", os.getpid(), os.getpid(), 1, 0, 0)
    def pages():
        address, status = ctypes.c_void_p(id(os) & ~4095), ctypes.c_int(-1)
        syscall("move_pages", context["host_pid"], 1, ctypes.byref(address), None, ctypes.byref(status), 0)
        return "move_pages answers %d" % status.value
    return any_of(compare, pages)

result = judged(attempt)
