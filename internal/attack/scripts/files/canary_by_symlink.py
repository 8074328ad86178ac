# attack: read a file of the host through symbolic links made in the scratch space
# class: 20
# walls: mount landlock
# needs: scratch

def attempt():
    here = scratch()
    targets = {"a": context["canary_file"], "b": "../" * 20 + context["canary_file"][1:], "c": "/", "d": "c/.."}
    for name, target in targets.items():
        link = os.path.join(here, name)
        if not os.path.islink(link):
            os.symlink(target, link)
    def route(path):
        return lambda: context["mark"] in read(os.path.join(here, path)) and "read it through " + path
    return any_of(route("a"), route("b"), route("c" + context["canary_file"]), route("d" + context["canary_file"]))

result = judged(attempt)
