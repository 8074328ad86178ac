# attack: climb with .. out of the working directory, the scratch space and the library to a file of the host
# class: 20
# walls: mount landlock

def attempt():
    tail = "../" * 40 + context["canary_file"].lstrip("/")
    starts = (".", "/tmp", os.path.dirname(library()), "/dev")
    return any_of(*[lambda s=s: context["mark"] in read(os.path.join(s, tail)) and "read it from " + s for s in starts])

result = judged(attempt)
