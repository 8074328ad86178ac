# attack: open the standard library's files for writing and put a module beside them
# class: 19
# walls: mount landlock uid
# naked: root

# Every later interpreter would import what a guest plants here.
def attempt():
    directory = os.path.dirname(library())
    def change():
        with open(library(), "r+b"):
            return "opened " + library() + " for writing"
    def plant(directory):
        path = os.path.join(directory, context["marker"] + ".py")
        with open(path, "x"):
            pass
        os.unlink(path)
        return "made " + path
    return any_of(change, lambda: plant(directory), lambda: plant(os.path.join(directory, "encodings")))

result = judged(attempt)
