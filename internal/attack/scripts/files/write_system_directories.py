# attack: make files in /, /etc, /usr, /dev and other system directories
# class: 20
# walls: mount landlock uid
# naked: root

def attempt():
    def plant(directory):
        path = os.path.join(directory, context["marker"])
        with open(path, "x"):
            pass
        os.unlink(path)
        return "made " + path
    return any_of(*[lambda f=f: plant(f) for f in ("/etc", "/usr/bin", "/usr/lib", "/lib", "/", "/dev", "/var/tmp", "/run")])

result = judged(attempt)
