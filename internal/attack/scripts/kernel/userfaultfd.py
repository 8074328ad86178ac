# attack: stop the kernel in the middle of a copy with userfaultfd
# class: 1
# walls: seccomp
# needs: syscall

def attempt():
    return any_of(*[lambda f=f: "has descriptor %d" % syscall("userfaultfd", f) for f in (0, 1, 0o2000000)])

result = judged(attempt)
