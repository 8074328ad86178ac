# attack: find the host's variables in libc's own table
# class: 10
# walls: environment
# needs: syscall

def attempt():
    table = ctypes.POINTER(ctypes.c_char_p).in_dll(libc(), "environ")
    for i in range(10000):
        if not table or table[i] is None:
            return None
        if context["mark"].encode() in table[i] or table[i].startswith(context["env_name"].encode()):
            return "libc has " + table[i].decode()

result = judged(attempt)
