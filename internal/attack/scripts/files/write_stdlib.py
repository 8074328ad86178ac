# attack: open the standard library's files for writing and put a module beside them
# class: 19
# walls: mount landlock uid
# naked: root

# What one guest plants here, every later interpreter would import.
def attempt():
    folder = os.path.dirname(library())
    def change():
        with open(library(), "r+b"):
            return "opened " + library() + " for writing"
    def plant(folder):
        path = os.path.join(folder, context["marker"] + ".py")
        with open(path, "x"):
            pass
        os.unlink(path)
        return "made " + path
    return any_of(change, lambda: plant(folder), lambda: plant(os.path.join(folder, "encodings")))

result = judged(attempt)
