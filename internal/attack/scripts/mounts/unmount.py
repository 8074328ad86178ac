# attack: unmount to see what is underneath, and change the root
# class: 1
# walls: seccomp capabilities
# needs: syscall
# naked: no it would unmount parts of the machine

def attempt():
    def unmount(path, flags):
        def route():
            syscall("umount2", path, flags)
            return "unmounted %r" % path
        return route
    def pivot():
        syscall("pivot_root", b"/tmp", b"/tmp")
        return "changed the root"
    paths = (b"/tmp", b"/dev/null", os.path.dirname(library()).encode(), b"/")
    return any_of(*[unmount(p, f) for p in paths for f in (0, 2)], pivot)

result = judged(attempt)
