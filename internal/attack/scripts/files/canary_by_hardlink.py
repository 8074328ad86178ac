# attack: make a hard link to a file of the host and read it
# class: 20
# walls: mount landlock
# needs: scratch
# naked: same-uid maybe the scratch space may lie on another file system

def attempt():
    link = os.path.join(scratch(), "link")
    os.link(context["canary_file"], link)
    text = read(link)
    return context["mark"] in text and "read " + text

result = judged(attempt)
