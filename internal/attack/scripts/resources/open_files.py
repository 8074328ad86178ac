# attack: open a thousand files
# class: 7
# walls: rlimit
# limits: open_files=64

# WebAssembly has no devices, so a file of the library is opened there.
def attempt():
    opened, path = 0, library() if sys.platform == "wasi" else "/dev/null"
    try:
        while opened < 1000:
            os.open(path, os.O_RDONLY)
            opened += 1
    except OSError as e:
        if opened > 64:
            return "opened %d files" % opened
        raise
    return "opened %d files" % opened

result = judged(attempt)
