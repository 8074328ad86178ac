# attack: type commands into the caller's terminal with TIOCSTI, also with bits that the kernel ignores
# class: 12
# walls: environment seccomp mount
# needs: syscall
# absent: fcntl
# naked: no the tests have no terminal, and it would type into the user's

import fcntl

TIOCSTI, TIOCLINUX = 0x5412, 0x541C

def attempt():
    def type_into(get, request):
        def route():
            fd = get()
            syscall("ioctl", fd, request, ctypes.create_string_buffer(b"x"))
            return "typed into the terminal"
        return route
    places = [lambda fd=fd: fd for fd in (0, 1, 2)] + [lambda p=p: os.open(p, os.O_RDWR | os.O_NOCTTY) for p in ("/dev/tty", "/dev/console", "/dev/tty0")]
    return any_of(*[type_into(p, r) for p in places for r in (TIOCSTI, TIOCSTI | 1 << 32, TIOCLINUX)])

result = judged(attempt)
