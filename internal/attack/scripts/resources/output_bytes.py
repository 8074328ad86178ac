# attack: print what breaks a reader: NULs, escape sequences, invalid text, an unfinished last line
# class: 18
# walls: rlimit pid seccomp
# limits: output=64KiB
# naked: no nothing reads it there

os.write(1, bytes(range(256)) * 16 + b"\x1b]0;owned\x07\x1b[2J" + b"\xed\xa0\x80" + b"\xf0\x9f\x98")
os.write(2, b"\xff" * 4096 + b"no end")
result = {"escaped": False, "detail": "the host reads it all as text"}
