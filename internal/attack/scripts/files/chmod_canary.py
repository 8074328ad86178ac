# attack: change mode, times, owner and attributes of a file of the host
# class: 9
# walls: mount uid seccomp
# needs: syscall
# absent: os.chown os.getgid os.getuid os.setxattr
# naked: same-uid

# Landlock controls none of these, and an owner may always make them. The C library of
# WebAssembly reports success without doing anything, so the file is checked.
def attempt():
    path = context["writable_file"]
    def chmod():
        os.chmod(path, 0o4777)
        return os.stat(path).st_mode & 0o4000 and "made it setuid"
    def by_fchmodat2():
        syscall("fchmodat2", -100, path.encode(), 0o777, 0)
        return "fchmodat2 changed its mode"
    def utime():
        os.utime(path, (0, 0))
        return "changed its times"
    def chown():
        os.chown(path, os.getuid(), os.getgid() + 1)
        return "changed its owner"
    def xattr():
        if hasattr(os, "setxattr") or sys.platform != "linux":
            os.setxattr(path, "user.cordon", b"x")
        else: # CPython before 3.12 on musl
            syscall("setxattr", path.encode(), b"user.cordon", b"x", 1, 0)
        return "set an attribute"
    return any_of(chmod, by_fchmodat2, utime, chown, xattr)

result = judged(attempt)
