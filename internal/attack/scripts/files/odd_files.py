# attack: leave pipes, link loops, sparse files, deep folders and odd names behind to trip who cleans up
# class: 15
# walls: mount landlock
# needs: scratch
# naked: no it harms nobody without a collector

# Nothing is gained inside; the run must come back in time and the next
# attempts must still work.
def attempt():
    here = scratch()
    os.mkfifo(os.path.join(here, "fifo"))
    os.symlink("loop", os.path.join(here, "loop"))
    os.symlink("/", os.path.join(here, "root"))
    for name in ("-rf", "new\nline", "\x1b[2J", b"\xff\xfe".decode("utf-8", "surrogateescape"), "x" * 255):
        with open(os.path.join(here, name), "w"):
            pass
    with open(os.path.join(here, "sparse"), "wb") as f:
        f.truncate(1 << 30)
    os.chdir(here)
    for _ in range(300):
        os.mkdir("d")
        os.chdir("d")
    os.chmod(here, 0)

result = judged(attempt)
