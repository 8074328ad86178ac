# attack: read a file of mode 000 with a capability that overrides permissions
# class: 6
# walls: capabilities uid
# needs: scratch
# absent: os.getuid
# naked: root

def attempt():
    os.getuid()  # modes mean something only where there are users
    path = os.path.join(scratch(), "shut")
    with open(path, "w") as f:
        f.write("x")
    os.chmod(path, 0)
    return read(path) and "permissions do not bind this process"

result = judged(attempt)
