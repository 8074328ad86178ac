# attack: change security options of the process: securebits, keepcaps, memory map, tracer, core dumps
# class: 1
# walls: seccomp
# needs: syscall

def attempt():
    options = {"PR_SET_SECUREBITS": (28, 0), "PR_SET_KEEPCAPS": (8, 1), "PR_SET_DUMPABLE": (4, 1), "PR_SET_PTRACER": (0x59616D61, -1),
               "PR_SET_MM": (35, 1, 0), "PR_SET_CHILD_SUBREAPER": (36, 1), "PR_SET_TSC": (26, 1), "PR_SET_SPECULATION_CTRL": (53, 0, 2)}
    def change(name):
        def route():
            syscall("prctl", *(options[name] + (0, 0, 0))[:5])
            return name + " was accepted"
        return route
    return any_of(*map(change, options))

result = judged(attempt)
