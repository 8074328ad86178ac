# attack: map a file from the scratch space as code, with mmap and as a shared library
# class: 22
# walls: mount
# needs: scratch syscall
# absent: mmap

import mmap, shutil

# Only noexec on the mount stops this: there is no exec.
def attempt():
    libc()
    import _ctypes
    source = getattr(_ctypes, "__file__", None) or os.path.realpath(sys.executable)
    library = os.path.join(scratch(), "library.so")
    shutil.copyfile(source, library)
    def mapped():
        fd = os.open(library, os.O_RDONLY)
        with mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC):
            return "mapped a written file as code"
    def loaded():
        return "loaded " + repr(ctypes.CDLL(library))
    return any_of(mapped, loaded)

result = judged(attempt)
