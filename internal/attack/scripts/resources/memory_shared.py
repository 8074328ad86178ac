# attack: use memory that belongs to no process: shared mappings and /dev/zero
# class: 7
# walls: rlimit cgroup
# absent: mmap
# limits: memory=64MiB
# expect: held outcome:out_of_memory

import mmap

SIZE = 256 << 20

def touch(area):
    for at in range(0, SIZE, 4096):
        area[at] = 1
    return "holds %d MiB of shared memory" % (SIZE >> 20)

def attempt():
    def zero():
        fd = os.open("/dev/zero", os.O_RDWR)
        return touch(mmap.mmap(fd, SIZE, flags=mmap.MAP_SHARED))
    return any_of(lambda: touch(mmap.mmap(-1, SIZE, flags=mmap.MAP_SHARED)), zero, lambda: touch(mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE)))

result = judged(attempt, MemoryError)
