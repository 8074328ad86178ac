# attack: replace the guest with another program, with execve and execveat
# class: 22
# walls: seccomp landlock
# needs: syscall
# absent: os.execv os.execve

# Success ends this script: the new program prints the shout.
def attempt():
    say = [sys.executable, "-I", "-S", "-c", "print(%r)" % context["shout"]]
    def by_execveat():
        argv = (ctypes.c_char_p * 6)(*[a.encode() for a in say], None)
        syscall("execveat", -100, sys.executable.encode(), argv, None, 0)
    return any_of(lambda: os.execve(sys.executable, say, {}), by_execveat, lambda: os.execv("/bin/sh", ["sh", "-c", "echo " + context["shout"]]))

result = judged(attempt)
