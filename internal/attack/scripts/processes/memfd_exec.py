# attack: execute a program from memory that has no path
# class: 22
# walls: seccomp
# absent: os.execve os.memfd_create

def attempt():
    fd = os.memfd_create("program")
    with open(os.path.realpath(sys.executable), "rb") as source:
        while True:
            block = source.read(1 << 20)
            if not block:
                break
            os.write(fd, block)
    say = [sys.executable, "-I", "-S", "-c", "print(%r)" % context["shout"]]
    return any_of(lambda: os.execve(fd, say, {}), lambda: os.execve("/proc/self/fd/%d" % fd, say, {}))

result = judged(attempt)
