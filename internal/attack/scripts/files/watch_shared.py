# attack: watch other runs use the interpreter's files with inotify and fanotify
# class: 8
# walls: seccomp
# needs: syscall

import select

def attempt():
    def inotify():
        fd = syscall("inotify_init1", 0)
        syscall("inotify_add_watch", fd, os.path.dirname(library()).encode(), 0x20)
        read(library())
        seen = select.select([fd], [], [], 0.5)[0]
        return seen and "saw a file being opened"
    def fanotify():
        fd = syscall("fanotify_init", 0x200, 0)
        syscall("fanotify_mark", fd, 1, 0x20, -100, library().encode())
        return "fanotify watches " + library()
    return any_of(inotify, fanotify)

result = judged(attempt)
