# attack: open the standard library's files for writing and put a module beside them
# class: 19
# walls: mount landlock uid
# naked: root

# What one guest plants here, every later interpreter would import.
def attempt():
    library = os.path.dirname(os.__file__)
    def change():
        with open(os.__file__, "r+b"):
            return "opened " + os.__file__ + " for writing"
    def plant(folder):
        path = os.path.join(folder, context["marker"] + ".py")
        with open(path, "x"):
            pass
        os.unlink(path)
        return "made " + path
    return any_of(change, lambda: plant(library), lambda: plant(os.path.join(library, "encodings")))

result = judged(attempt)
