# attack: list the host's top directories and those of its users
# class: 20
# walls: mount landlock

# The interpreter's directories may be visible; these must not be.
def attempt():
    foreign = {"boot", "home", "media", "mnt", "opt", "root", "run", "srv", "sys", "var"}
    def many():
        seen = foreign & set(os.listdir("/"))
        return len(seen) > 3 and "sees " + " ".join(sorted(seen))
    return any_of(many, lambda: "lists " + str(os.listdir("/var/log")[:3]), lambda: "lists " + str(os.listdir("/etc/ssl/private")))

result = judged(attempt)
