# attack: move a file from the scratch space to the host, and one from the host to the scratch space
# class: 20
# walls: mount landlock
# needs: scratch
# naked: same-uid maybe the scratch space may lie on another file system

def attempt():
    mine = os.path.join(scratch(), "mine")
    with open(mine, "w") as f:
        f.write("x")
    def out():
        os.rename(mine, os.path.join(context["writable_dir"], context["marker"]))
        return "moved a file out"
    def link_out():
        os.link(mine, os.path.join(context["writable_dir"], context["marker"]))
        return "linked a file out"
    return any_of(out, link_out)

result = judged(attempt)
