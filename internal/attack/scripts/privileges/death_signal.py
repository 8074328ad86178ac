# attack: clear the signal that ends the guest when its parent dies
# class: 17
# walls: seccomp
# needs: syscall

def attempt():
    syscall("prctl", 1, 0, 0, 0, 0)
    return "cleared the parent's death signal"

result = judged(attempt)
