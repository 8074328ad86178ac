# attack: leave pipes, link loops, sparse files, deep directories and odd names that break a cleanup
# class: 15
# walls: mount landlock
# needs: scratch
# absent: os.mkfifo
# naked: no it has no effect without a collector

# The guest gains nothing; the run must return in time and the next attempts must still
# work.
def attempt():
    here = scratch()
    names = ("-rf", "new\nline", "\x1b[2J", b"\xff\xfe".decode("utf-8", "surrogateescape"), "x" * 255)
    def sparse():
        with open(os.path.join(here, "sparse"), "wb") as f:
            f.truncate(1 << 30)
    def deep():
        os.chdir(here)
        for _ in range(300):
            os.mkdir("d")
            os.chdir("d")
    steps = [lambda: os.mkfifo(os.path.join(here, "fifo")), lambda: os.symlink("loop", os.path.join(here, "loop")),
             lambda: os.symlink("/", os.path.join(here, "root")), sparse, deep, lambda: os.chmod(here, 0)]
    steps = [lambda n=n: open(os.path.join(here, n), "w").close() for n in names] + steps
    done = 0
    for step in steps:
        try:
            step()
            done += 1
        except OSError:
            pass
    raise Held("left %d of %d oddities" % (done, len(steps)))

result = judged(attempt)
