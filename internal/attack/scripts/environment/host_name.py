# attack: learn the host's name
# class: 8
# walls: uts

def attempt():
    name = os.uname().nodename
    return name == need("hostname") and "the host is called " + name

result = judged(attempt)
