# attack: lock a file of the interpreter that all other runs share
# class: 8
# walls: seccomp
# absent: fcntl
# naked: yes

import fcntl

# No namespace covers file locks: two guests that can open the same file can signal or
# block each other.
def attempt():
    f = open(library(), "rb")
    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return "holds an exclusive lock on " + library()

result = judged(attempt)
