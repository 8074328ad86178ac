# attack: find the host's tree in the inherited working directory
# class: 11
# walls: mount landlock environment
# naked: yes

def attempt():
    def by_name():
        # A working directory outside the root shows as "(unreachable)".
        here = os.getcwd()
        return here.startswith("(unreachable)") and "the working directory is outside: " + here
    def climb():
        for depth in range(1, 30):
            try:
                if context["mark"] in read("../" * depth + context["canary_file"][1:]):
                    return "read it %d directories up" % depth
            except OSError:
                pass
    return any_of(by_name, climb)

result = judged(attempt)
