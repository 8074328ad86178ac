# Takes more memory than its limit of 64 MiB. It is shared memory, which a limit of the
# address space covers only before it is used. Then it waits: where memory is only watched,
# it is ended then.
import mmap, time

try:
    m = mmap.mmap(-1, 300 << 20)
except OSError:
    raise MemoryError
for i in range(0, len(m), 4096):
    m[i] = 1
time.sleep(20)
