# attack: make a child with vfork, in machine code
# class: 17
# walls: seccomp
# needs: syscall
# absent: mmap os.waitpid

import mmap, subprocess

# The child shares the stack, so it may only exit: mov eax,58;
# syscall; test eax,eax; jnz out; mov edi,7; mov eax,60; syscall; out: ret
CODE = bytes.fromhex("b83a0000000f0585c0750cbf07000000b83c0000000f05c3")

def attempt():
    def in_machine_code():
        libc()
        if os.uname().machine != "x86_64":
            raise Held("no such call on this architecture")
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(CODE)
        pid = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
        if pid < 0:
            raise OSError(-pid, "vfork: " + os.strerror(-pid))
        return "had child %s" % (os.waitpid(pid, 0),)
    def in_library():
        return "had a child: %d" % subprocess.call([sys.executable, "-I", "-S", "-c", "pass"])
    return any_of(in_machine_code, in_library)

result = judged(attempt)
