# attack: truncate a file of the host without opening it for writing
# class: 9
# walls: mount landlock
# needs: syscall

# truncate(2) takes a path, and O_TRUNC truncates without write access. Landlock covers
# both only since ABI 3; it takes a file that is opened with access mode 3 as neither
# read nor written.
def attempt():
    path = context["writable_file"]
    def by_path():
        os.truncate(path, 0)
        return "truncated it"
    def opening(mode, name):
        def route():
            os.close(os.open(path, mode | os.O_TRUNC))
            return "emptied it by opening it " + name
        return route
    def by_openat2():
        how = (os.O_TRUNC).to_bytes(8, sys.byteorder) + bytes(16)
        syscall("openat2", -100, path.encode(), how, len(how))
        return "emptied it by openat2"
    return any_of(by_path, opening(os.O_RDONLY, "for reading"), opening(3, "for nothing"), opening(os.O_RDWR, "for both"), by_openat2)

result = judged(attempt)
