# attack: exchange a harmless file for a link to the host's file at the right moment
# class: 20
# walls: mount landlock
# needs: scratch threads

import threading, time

# A check in user space sees the harmless file; the open that follows it sees
# the link. Only a check at the open itself cannot be raced.
def attempt():
    here = scratch()
    name, calm, trap = (os.path.join(here, n) for n in ("name", "calm", "trap"))
    end = time.monotonic() + 1.0
    def swap():
        while time.monotonic() < end:
            with open(calm, "w") as f:
                f.write("harmless")
            os.rename(calm, name)
            os.symlink(context["canary_file"], trap)
            os.rename(trap, name)
    racer = threading.Thread(target=swap)
    start(racer)
    seen = ""
    while time.monotonic() < end and context["mark"] not in seen:
        try:
            seen = read(name)
        except OSError:
            pass
    racer.join()
    return context["mark"] in seen and "read " + seen

result = judged(attempt)
