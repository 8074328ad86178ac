# attack: make 32-bit system calls with int 0x80, which uses other numbers
# class: 2
# walls: seccomp
# needs: syscall
# absent: mmap
# expect: held outcome:signaled
# naked: yes maybe a kernel may be built without 32-bit calls

import mmap

# push rbx; mov ebx,2; mov ecx,1; xor edx,edx; mov eax,359 (socket); int 0x80;
# pop rbx; movsxd rax,eax; ret
CODE = bytes.fromhex("53bb02000000b90100000031d2b867010000cd805b4863c0c3")

def attempt():
    architecture("x86_64")
    libc()
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    answer = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    if answer < 0:
        raise OSError(-answer, "socket by int 0x80: " + os.strerror(-answer))
    return "a 32-bit call opened socket %d" % answer

result = judged(attempt)
