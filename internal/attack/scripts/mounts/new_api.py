# attack: mount with the newer calls: fsopen, fsmount, open_tree, move_mount
# class: 1
# walls: seccomp capabilities
# needs: syscall
# naked: root

def attempt():
    def new():
        fs = syscall("fsopen", b"tmpfs", 1)
        syscall("fsconfig", fs, 6, 0, 0, 0)
        fd = syscall("fsmount", fs, 1, 0)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd))
        return "wrote into a file system of its own"
    def tree():
        return "cloned the mounts: descriptor %d" % syscall("open_tree", -100, b"/", 1 | 0x8000)
    def move():
        syscall("move_mount", -100, b"/tmp", -100, b"/dev", 0)
        return "moved a mount"
    return any_of(new, tree, move)

result = judged(attempt)
