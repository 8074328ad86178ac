# attack: start a program with posix_spawn
# class: 22
# walls: seccomp
# absent: os.posix_spawn os.waitpid

def attempt():
    pid = os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", "print(%r)" % context["shout"]], {})
    return os.waitpid(pid, 0)[1] == 0 and "started program %d" % pid

result = judged(attempt)
