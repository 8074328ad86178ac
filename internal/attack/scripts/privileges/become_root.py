# attack: be root, or become root
# class: 6
# walls: uid capabilities seccomp
# needs: syscall
# absent: os.getresgid os.getresuid os.setgid os.setgroups os.setresuid os.setreuid os.setuid
# naked: root

def attempt():
    for change in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setreuid(0, 0), lambda: os.setgid(0),
                   lambda: os.setgroups([0]), lambda: syscall("setfsuid", 0)):
        try:
            change()
        except (OSError, Absent):
            pass
    ids = os.getresuid() + os.getresgid()
    return 0 in ids and "has the ids %s" % (ids,)

result = judged(attempt)
