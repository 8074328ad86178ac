# attack: name a file of the host in every odd way: slashes, dots, bytes, NULs, directories that are files
# class: 20
# walls: mount landlock

# Start from a granted directory, whose links may lead out as well.
STARTS = ("", "/", "../", "../" * 30, "./../", "root/", "up/../../../../", "far/", "far/../", "root/proc/self/root/")

def attempt():
    path = context["canary_file"]
    plain = path.lstrip("/")
    starts = ["/", "//", "///", "/./", "/../", "/lib/../", "/lib/../../", "/lib/./.././", "lib/../", "./", "../" * 30, "/lib//..//..//",
              "/lib/python311.zip/../../", "/lib/python311.zip/", "/lib\\..\\", "/proc/self/root/", "/proc/self/cwd/", "/dev/fd/3/", "/dev/fd/3/../",
              "file:///", "\\\\?\\", "/tmp/../", "~/../../"]
    names = [start + plain for start in starts] + [path + end for end in ("/", "/.", "/..", "//", "\\")]
    names += [os.fsencode(path), path.replace("/", "//"), path.replace("/", "/./")]
    def by_name(name):
        def route():
            with open(name, "rb") as f:
                text = f.read(4096).decode("utf-8", "replace")
            return context["mark"] in text and "read it as %r" % name
        return route
    def by_directory(fd, start):
        def route():
            f = os.open(start + plain, os.O_RDONLY, dir_fd=fd)
            return "read %r from descriptor %d" % (os.read(f, 200), fd)
        return route
    def cut(name):
        def route():
            try:
                return context["mark"] in read(name) and "read it past a NUL"
            except ValueError as e:
                raise Held(str(e))
        return route
    routes = [by_name(n) for n in names] + [cut("/lib\0" + path), cut(path + "\0")]
    routes += [by_directory(fd, start) for fd in range(3, 12) for start in STARTS]
    return any_of(*routes)

result = judged(attempt)
