# attack: find capabilities left in the bounding set, for a program to gain
# class: 6
# walls: capabilities seccomp
# needs: syscall

def attempt():
    left = []
    for capability in range(0, 41):
        try:
            if syscall("prctl", 23, capability, 0, 0, 0) == 1:
                left.append(capability)
        except OSError as e:
            if capability == 0:
                raise
    return left and "bounding set still has %s" % left

result = judged(attempt)
