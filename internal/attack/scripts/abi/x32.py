# attack: make system calls with x32 numbers, which a filter for x86_64 may not know
# class: 2
# walls: seccomp
# needs: syscall
# expect: held outcome:signaled
# naked: yes maybe most kernels are built without x32

def attempt():
    architecture("x86_64")
    return any_of(*[lambda n=n, a=a: "x32 answers %d" % syscall(0x40000000 | n, *a) for n, a in ((39, ()), (41, (2, 1, 0)), (102, ()))])

result = judged(attempt)
