"""The fork server. It forks workers ahead of demand, and never runs guest code. See
docs/architecture.md.
"""
import gc
import posix
import sys

import _signal

WARM_UPS = 16

# From <linux/...>
CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MAP_PRIVATE, MAP_ANONYMOUS = 2, 0x20
MREMAP_MAYMOVE, MREMAP_FIXED = 1, 2
MADV_HUGEPAGE, LARGE_PAGE = 14, 2 << 20


def watch_deaths(syscall):
    """Returns a descriptor that can be read when a worker has died. A signal handler would
    interrupt system calls that wait for the Runner's answer."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGCHLD])
    return syscall("signalfd4", -1, u64(1 << _signal.SIGCHLD - 1), 8, O_CLOEXEC)


def serve(syscall, config, receive_order, deaths):
    """Forks on request, and reports the end of each worker."""
    import select

    config["fresh"] = CLONE_NEWNS if config["mount"] else 0
    if config["unshare_pid"]:
        config["fresh"] |= CLONE_NEWPID
    else:
        config["parent"] = posix.getpid()
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN)
    poll.register(deaths, select.POLLIN)
    numbers = {}  # pid → number of a worker
    while True:
        for fd, _ in poll.poll():
            if fd == deaths:
                posix.read(deaths, 128)
                reap(numbers)
            else:
                fds, wanted = next_order(receive_order)
                pid = fork(syscall, config, fds, wanted)
                numbers[pid] = wanted["number"]


def fork(syscall, config, fds, wanted):
    """Forks one worker into its own namespaces. The mount is made here and not in the
    worker, so that the Runner allows mounts to one process only."""
    pid, fresh = -1, config["fresh"]
    try:
        if fresh:
            syscall("unshare", fresh)
        mount_scratch(syscall, config, wanted)
        pid = posix.fork()
        if pid == 0:
            worker(syscall, config, fds, wanted)
        if fresh & CLONE_NEWNS:
            syscall("setns", config["namespaces"][0], CLONE_NEWNS)
        if fresh & CLONE_NEWPID:
            syscall("setns", config["namespaces"][-1], CLONE_NEWPID)
    except BaseException as error:
        if pid == 0:
            posix._exit(1)
        posix.write(CONTROL, b"X" + bounded(str, error, 500).encode("utf-8", "replace"))
        posix._exit(1)  # between two namespaces: a new fork server is safer
    for fd in fds:
        posix.close(fd)
    return pid


def reap(numbers):
    """Reports to the Runner how each worker ended. Only the Runner draws conclusions."""
    while True:
        try:
            pid, status, usage = posix.wait4(-1, posix.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        cpu = int((usage.ru_utime + usage.ru_stime) * 1e6)
        posix.write(CONTROL, b"D%d %d %d %d" % (numbers.pop(pid), status, cpu, usage.ru_maxrss))


def enlarge(libc, ranges):
    """Moves the interpreter's code into large pages, for each of which a fork copies one
    table entry. Otherwise every worker maps the code again page by page, which is a tenth
    of its cost."""
    syscall, memmove, Word = libc.syscall, libc.memmove, libc.Word
    for start, end in ranges:
        size = Word(end - start)
        whole = Word(end - start + LARGE_PAGE)
        try:
            room = syscall("mmap", 0, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            made = Word((room + LARGE_PAGE - 1) // LARGE_PAGE * LARGE_PAGE)
            try:
                syscall("madvise", made, size, MADV_HUGEPAGE)
                memmove(made, Word(start), size)
                syscall("mprotect", made, size, PROT_READ | PROT_EXEC)
                # In one step: there is no moment without code to run.
                syscall("mremap", made, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, Word(start))
            finally:
                syscall("munmap", Word(room), whole)  # the unused rest
        except SetupFailure:
            return  # slower, but correct


def warm_up_often(config):
    """Warms up until CPython has specialized the code. Specializing it in a worker would write
    to its pages, and so copy them. With threading, Python also runs code in every child after
    a fork."""
    after_fork = getattr(sys.modules.get("threading"), "_after_fork", int)
    for _ in range(WARM_UPS):
        after_fork()
        warm_up(config["warmup"], config["builtins"], config["compiled"])
        warm_up_failure()
    gc.collect()


def warm_up(start, names, compiled):
    """Runs a sample guest through all steps of a real one, except those that can be done
    only once."""
    if not missing_bytes(start):
        script, name, context, shown, code, _, _, _, max_answer = decode_start(start)
        report = run(script, name, context, shown, code, stage(names), compiled, last=False)
        flush()
        frame(b"D", pack(report, max_answer))


def warm_up_failure():
    """Describes an exception, as for a guest that raises one."""
    sys.stderr = None  # describe() shows the traceback there
    try:
        exec("def fail():\n    raise ValueError('sample')\nfail()", {})
    except ValueError as error:
        frame(b"D", pack({"end": "raised", "code": 1, "exception": describe(error, "<string>", "sample")}, READ_AT_ONCE))
    finally:
        sys.stderr = STREAMS[1]
