# attack: find the interpreter's initial environment at the bottom of the stack
# class: 10
# walls: environment
# needs: syscall
# expect: held outcome:signaled

# unsetenv leaves these strings where the kernel put them at exec.
def attempt():
    try:
        bottom = ctypes.c_void_p.in_dll(libc(), "__libc_stack_end").value
    except ValueError: # musl
        return below_name()
    words = ctypes.cast(bottom, ctypes.POINTER(ctypes.c_void_p))
    i = 1 + (words[0] or 0) + 1
    while words[i]:
        text = ctypes.string_at(words[i])
        if context["mark"].encode() in text or text.startswith(context["env_name"].encode()):
            return "the stack has " + text.decode("utf-8", "replace")
        i += 1

# Above the strings is the name of the program, AT_EXECFN. The kernel maps 128 KiB below.
def below_name():
    getauxval = libc().getauxval
    getauxval.restype = ctypes.c_ulong
    text = ctypes.string_at(getauxval(31) - (64 << 10), 64 << 10)
    if (context["env_name"] + "=").encode() in text:
        return "the stack has " + context["env_name"]

result = judged(attempt)
