# attack: lock a file of the interpreter that all other runs share
# class: 8
# walls: seccomp
# absent: fcntl
# naked: yes

import fcntl

# File locks are no part of any namespace: two guests that can open the same
# file can signal each other, or hold each other up.
def attempt():
    f = open(library(), "rb")
    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return "holds an exclusive lock on " + library()

result = judged(attempt)
