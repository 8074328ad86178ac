# attack: reach a file of the host relative to directory descriptors, and with openat2
# class: 20
# walls: mount landlock
# needs: syscall
# absent: os.O_PATH os.fchdir

import struct

def attempt():
    path = context["canary_file"]
    def from_directory(start):
        root = os.open(start, os.O_RDONLY | os.O_DIRECTORY)
        fd = os.open("../" * 40 + path[1:], os.O_RDONLY, dir_fd=root)
        return os.read(fd, 200).decode()
    def by_openat2():
        how = struct.pack("QQQ", os.O_RDONLY, 0, 0)
        return os.read(syscall("openat2", -100, path.encode(), how, len(how)), 200).decode()
    def by_path_descriptor():
        # An open with O_PATH is not checked for reading; opening the result again is.
        root = os.open(os.path.dirname(path), os.O_PATH)
        os.fchdir(root)
        return read(os.path.basename(path))
    return any_of(lambda: from_directory("/"), lambda: from_directory(os.path.dirname(library())), by_openat2, by_path_descriptor)

result = judged(attempt)
