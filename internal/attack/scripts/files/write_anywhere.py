# attack: make, link, move and delete files in every existing directory, by path and by descriptor
# class: 20
# walls: mount landlock uid
# naked: no it would leave things behind

# The scratch space, if there is one, is the guest's own, and so may /dev/shm be.
OWN = (os.environ.get("TMPDIR", "/tmp"), "/tmp", "/dev/shm")

def attempt():
    name = context["marker"]
    directories = {"/", ".", "..", "/lib", "/tmp", "/dev", "/dev/shm", "/proc", "/var/tmp", "/home", os.path.dirname(library()), library()}
    directories = [f for f in sorted(directories) if not any((os.path.abspath(f) + "/").startswith(own + "/") for own in OWN)]
    def made(path, **at):
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, **at)
        os.close(fd)
        os.unlink(path, **at)
        return "made %s %s" % (path, at or "")
    def directory(path, **at):
        os.mkdir(path, **at)
        os.rmdir(path, **at)
        return "made the directory %s %s" % (path, at or "")
    def link(path):
        os.symlink("/", path)
        os.unlink(path)
        return "made the link " + path
    def hard_link(path):
        os.link(library(), path)
        os.unlink(path)
        return "linked the library as " + path
    def change(path):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        return "opened %s for writing: %d" % (path, fd)
    routes = [lambda w=w, f=f: w(os.path.join(f, name)) for f in directories for w in (made, directory, link, hard_link)]
    if sys.platform == "wasi":
        # On other tiers the descriptors of the scratch space are unknown.
        own = [os.stat(path) for path in ("/tmp", "/work") if os.path.exists(path)]
        def is_own(fd):
            try:
                return any(os.path.samestat(os.fstat(fd), one) for one in own)
            except OSError:
                return False
        routes += [lambda w=w, fd=fd: w(name, dir_fd=fd) for fd in range(3, 20) if not is_own(fd) for w in (made, directory)]
        routes += [lambda fd=fd: "wrote to descriptor %d: %d" % (fd, os.write(fd, b"x")) for fd in range(3, 20)]
        routes += [lambda: os.unlink(library()) or "deleted the library", lambda: os.rename(library(), "/lib/x") or "moved the library"]
    return any_of(*routes, lambda: change(library()))

result = judged(attempt, NotImplementedError)
