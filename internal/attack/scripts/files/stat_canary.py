# attack: learn with stat, access and statx that a file of the host exists, and its size
# class: 9
# walls: mount
# needs: syscall

# Landlock does not cover these calls: only a private root hides the host.
def attempt():
    path = context["canary_file"]
    def by_statx():
        syscall("statx", -100, path.encode(), 0, 0x7FF, ctypes.create_string_buffer(256))
        return "statx sees it"
    return any_of(
        lambda: "it has %d bytes" % os.stat(path).st_size,
        lambda: os.access(path, os.F_OK) and "it exists",
        by_statx,
        lambda: "readlink says it is no link: " + os.readlink(path) if os.path.lexists(path) else "",
    )

result = judged(attempt)
