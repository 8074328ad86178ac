# attack: make a child in new namespaces with clone, with bits that the kernel ignores
# class: 3
# walls: seccomp
# needs: syscall
# absent: os.waitpid

CLONE_NEWUSER, CLONE_NEWNS, SIGCHLD = 0x10000000, 0x20000, 17

def attempt():
    def clone(flags):
        def route():
            pid = syscall("clone", flags, 0, 0, 0, 0)
            if pid == 0:
                os._exit(7)
            return "had child %s in a namespace of its own" % (os.waitpid(pid, 0),)
        return route
    return any_of(clone(CLONE_NEWUSER | SIGCHLD), clone(CLONE_NEWUSER | SIGCHLD | 1 << 36), clone(CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD | 1 << 63))

result = judged(attempt)
