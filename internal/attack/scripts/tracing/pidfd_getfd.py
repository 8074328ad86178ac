# attack: take a descriptor out of the host with pidfd_getfd
# class: 13
# walls: seccomp pid landlock uid
# needs: syscall
# naked: same-uid

def attempt():
    pidfd = syscall("pidfd_open", context["host_pid"], 0)
    fd = syscall("pidfd_getfd", pidfd, need("leaked_fd"), 0)
    return "took descriptor %d, which says %r" % (fd, os.pread(fd, 200, 0))

result = judged(attempt)
