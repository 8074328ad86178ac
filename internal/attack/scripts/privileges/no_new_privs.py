# attack: find that no-new-privs is off, or switch it off
# class: 5
# walls: no_new_privs
# needs: syscall

def attempt():
    try:
        syscall("prctl", 38, 0, 0, 0, 0)
    except OSError:
        pass
    return syscall("prctl", 39, 0, 0, 0, 0) == 0 and "a setuid program would gain its owner's powers"

result = judged(attempt)
