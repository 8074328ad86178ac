# attack: truncate a file of the host without opening it
# class: 9
# walls: mount landlock

# truncate(2) takes a path; Landlock knows it only since ABI 3.
def attempt():
    os.truncate(context["writable_file"], 0)
    return "truncated it"

result = judged(attempt)
