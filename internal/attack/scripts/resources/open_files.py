# attack: open a thousand files
# class: 7
# walls: rlimit
# limits: open_files=64

def attempt():
    opened = 0
    try:
        while opened < 1000:
            os.open("/dev/null", os.O_RDONLY)
            opened += 1
    except OSError as e:
        if opened > 64:
            return "opened %d files" % opened
        raise
    return "opened %d files" % opened

result = judged(attempt)
