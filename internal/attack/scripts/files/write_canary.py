# attack: write into a world-writable file and directory of the host
# class: 20
# walls: mount landlock

def attempt():
    def overwrite():
        with open(context["writable_file"], "r+b") as f:
            f.write(b"defaced")
        return "wrote the host's file"
    def create():
        with open(os.path.join(context["writable_dir"], context["marker"]), "w") as f:
            f.write("was here")
        return "made a file in the host's directory"
    def directory():
        os.mkdir(os.path.join(context["writable_dir"], context["marker"] + "d"))
        return "made a directory in the host's directory"
    return any_of(overwrite, create, directory)

result = judged(attempt)
