# attack: read a world-readable file of the host by its absolute path
# class: 20
# walls: mount landlock

def attempt():
    text = read(context["canary_file"])
    return context["mark"] in text and "read " + text

result = judged(attempt)
