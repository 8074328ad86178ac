# attack: make a child with the clone call itself, also with flags in bits that the kernel ignores
# class: 3
# walls: seccomp
# needs: syscall
# absent: os.waitpid

SIGCHLD, CLONE_THREAD, CLONE_VM, CLONE_SIGHAND, CLONE_PARENT = 17, 0x10000, 0x100, 0x800, 0x8000

# A rule "only with CLONE_THREAD" must check the bits that the kernel uses.
def attempt():
    def clone(flags):
        def route():
            pid = syscall("clone", flags, 0, 0, 0, 0)
            if pid == 0:
                os._exit(7)
            return "had child %s" % (os.waitpid(pid, 0),)
        return route
    high = (CLONE_THREAD | CLONE_VM | CLONE_SIGHAND) << 32
    return any_of(clone(SIGCHLD), clone(SIGCHLD | high), clone(SIGCHLD | 1 << 36), clone(SIGCHLD | CLONE_PARENT))

result = judged(attempt)
