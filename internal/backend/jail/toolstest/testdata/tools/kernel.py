"""What programs ask of the kernel beside files: memory, locks, events."""
import ctypes
import errno
import fcntl
import mmap
import os
import select
import struct
import time

libc = ctypes.CDLL(None, use_errno=True)


def mapped():
    with open("mapped.bin", "w+b") as file:
        file.truncate(1 << 20)
        with mmap.mmap(file.fileno(), 0) as memory:
            memory[:22] = b"written through memory"
            memory.flush()
    private = mmap.mmap(-1, 64 << 20)  # what is not touched costs nothing
    private[0] = 1
    private.close()
    # What a just-in-time compiler does.
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.close()


def locked():
    with open("lock", "w") as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)
        child = os.fork()
        if child == 0:
            with open("lock") as theirs:
                try:
                    fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0, "two have one lock"
        fcntl.flock(mine, fcntl.LOCK_UN)
        fcntl.lockf(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of POSIX


def watched():
    fd = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    assert fd >= 0, os.strerror(ctypes.get_errno())
    create = 0x100
    assert libc.inotify_add_watch(fd, b".", create) >= 0, os.strerror(ctypes.get_errno())
    open("appeared", "w").close()
    ready, _, _ = select.select([fd], [], [], 10)
    assert ready, "no event"
    data = os.read(fd, 4096)
    _, mask, _, length = struct.unpack_from("iIII", data)
    assert mask == create and data[16:16 + length].rstrip(b"\0") == b"appeared"
    os.close(fd)


def events():
    with select.epoll() as poll:
        reading, writing = os.pipe()
        poll.register(reading, select.EPOLLIN)
        os.write(writing, b"x")
        assert poll.poll(10)[0][0] == reading
    try:
        memory = os.memfd_create("anonymous")
    except OSError as e:
        assert e.errno == errno.ENOSYS, e  # memory is watched: there is no cgroup
    else:
        os.write(memory, b"x" * 10)
        assert os.fstat(memory).st_size == 10
    child = os.fork()
    if child == 0:
        os._exit(5)
    pidfd = os.pidfd_open(child)
    assert select.select([pidfd], [], [], 10)[0], "a pidfd does not tell of the end"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    for name, args in {"eventfd": (0, 0), "timerfd_create": (1, 0)}.items():
        fd = getattr(libc, name)(*args)
        assert fd >= 0, (name, os.strerror(ctypes.get_errno()))
        os.close(fd)


def files():
    os.mkfifo("pipe")
    os.symlink("nowhere", "dangling")
    os.link("mapped.bin", "second")
    os.rename("second", "renamed")
    os.utime("renamed", (1, 2))
    assert os.stat("renamed").st_mtime == 2
    os.setxattr("renamed", "user.note", b"x")
    assert os.getxattr("renamed", "user.note") == b"x"
    with open("big", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 20)
    with open("big", "rb") as source, open("copy", "wb") as target:
        assert os.sendfile(target.fileno(), source.fileno(), 0, 1 << 20) == 1 << 20
        try:
            os.copy_file_range(source.fileno(), target.fileno(), 1 << 10)
        except OSError as e:
            assert e.errno in (errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP), e
    os.fsync(os.open("copy", os.O_RDONLY))
    for name in ("pipe", "dangling", "renamed", "big", "copy", "appeared", "lock"):
        os.unlink(name)


def clocks():
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    assert time.clock_gettime(time.CLOCK_BOOTTIME) >= 0 and time.clock_gettime(time.CLOCK_MONOTONIC) >= before
    assert len(os.getrandom(32)) == 32 and os.cpu_count() >= 1 and os.sched_getaffinity(0)
    os.nice(1)
    os.sched_yield()


if __name__ == "__main__":
    for part in (mapped, locked, watched, events, files, clocks):
        part()
    print("kernel: all well")
