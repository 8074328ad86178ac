"""Fifth part: the fork server. See docs/architecture.md.

A short loader (bytecode.go) starts this as __main__ behind the walls of internal/confine,
with one descriptor: the control socket. It imports what scripts use most, then forks
workers ahead of demand. It never runs guest code.
"""
import gc
import marshal
import posix
import sys

import _signal

WARM_UPS = 16


def main():
    step = "configuration"
    try:
        config = marshal.loads(posix.read(CONTROL, 1 << 18))
        posix.environ.pop(b"LD_BIND_NOW", None)  # set for us only, in start_linux.go
        if config["language"]:
            load_language(read_program(), read_program())
        libc = LibC(config["numbers"])
        syscall, receive_order = libc.syscall, receiver(libc)
        step = "preload"
        sys.path[:] = config["path"]
        prepare(config["preload"], config["optional"])
        config["setters"] = thread_setters()
        if not config["oneshot"]:
            posix.write(CONTROL, b"M")
            enlarge(libc, marshal.loads(posix.read(CONTROL, 4096)))
        config["builtins"], config["compiled"] = sys.modules["builtins"], compiled
        if config["language"]:
            step = "language"
            rules = config["rules"] = learn_language(*config["language"], not config["oneshot"])
            config["builtins"], config["compiled"] = rules.builtins, rules.compiled
        step = "warm up"
        if config["warmup"]:
            # Often enough that CPython has specialized the code. Specializing it in a worker
            # would write to its pages, and so copy them. With threading, Python also runs
            # code in every child after a fork.
            after_fork = getattr(sys.modules.get("threading"), "_after_fork", int)
            for _ in range(WARM_UPS):
                after_fork()
                warm_up(config["warmup"], config["builtins"], config["compiled"])
                warm_up_failure()
            gc.collect()
        gc.disable()
        step = "randomness"
        config["randomness"] = None  # there is only one guest
        if not config["oneshot"]:
            config["randomness"] = Randomness()
            config["randomness"].renew()  # errors show before anything is forked
            step = "signals"
            deaths = watch_deaths(syscall)
        if config["oneshot"]:
            # Nobody can permit a mount yet once the filter is installed.
            step = "scratch"
            fds, wanted = next_order(receive_order)
            mount_scratch(syscall, config, wanted)
        step = "seccomp"
        if config["exposed"]:
            install_filter(syscall, config["exposed"], 0)
        if config["notify"]:
            listener = install_filter(syscall, config["notify"], SECCOMP_FILTER_FLAG_NEW_LISTENER)
            send_descriptor(syscall, b"Z", listener)
            posix.close(listener)
        else:
            posix.write(CONTROL, b"Z")
    except BaseException as error:
        posix.write(CONTROL, ("E%s\0%s" % (step, bounded(str, error, 1000))).encode("utf-8", "replace"))
        posix._exit(1)

    # With a pid namespace a worker dies with us. Without one, or if we are the worker, it
    # must ask for a parent death signal.
    config["parent"] = None
    if config["oneshot"] and not config["language"]:
        config["compiled"] = quick_compiler()
    config["limit"] = limiter(syscall, config["resources"], config["oneshot"])
    config["descriptors"] = [CONTROL] + config["namespaces"]
    _signal.signal(_signal.SIGURG, buffer_output)
    if config["landlock"]:
        prepare_rules(config["landlock"], config["home"])
    if config["language"] and not config["oneshot"]:
        # What was imported since the rules were learned, and what serve() needs,
        # belongs to the library too. Otherwise each worker would scan all classes
        # again.
        import select

        rules.load(())
    # Nothing here is garbage. Frozen objects are not scanned by the first collection of
    # every guest.
    gc.freeze()
    if config["oneshot"]:
        config["parent"] = posix.getppid()
        worker(syscall, config, fds, wanted)
    config["fresh"] = CLONE_NEWNS if config["mount"] else 0
    if config["unshare_pid"]:
        config["fresh"] |= CLONE_NEWPID
    else:
        config["parent"] = posix.getpid()
    serve(syscall, config, receive_order, deaths)


PACKET = 128 << 10  # packetSize in bytecode.go


def read_program():
    """Reads packets up to and including the first short one."""
    data = packet = posix.read(CONTROL, PACKET)
    while len(packet) == PACKET:
        packet = posix.read(CONTROL, PACKET)
        data += packet
    return data


def mount_scratch(syscall, config, wanted):
    """Mounts the guest's /tmp, and in it the granted files of the host."""
    if not config["mount"]:
        return
    private = config["private"]
    if private:
        posix.chdir("/tmp")  # its files stay reachable by relative paths after it is mounted over
    options = b"mode=0700,nr_inodes=4096,size=%d\0" % wanted["scratch"]
    syscall("mount", b"cordon\0", b"/tmp\0", b"tmpfs\0", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
    for directory, entries in private:
        if directory != "/tmp":
            posix.chdir(directory)
            bind(syscall, "/tmp", directory, MS_BIND)
        for name, kind, target in entries:
            mount_entry(syscall, directory + "/" + name, name, kind, target)


def mount_entry(syscall, path, name, kind, target):
    """Mounts an entry of the current directory, which is mounted over."""
    try:
        if kind == "symlink":
            posix.symlink(target, path)
        elif kind == "dir":
            posix.mkdir(path, 0o755)
        else:
            posix.close(posix.open(path, posix.O_CREAT | posix.O_EXCL | posix.O_WRONLY, 0o444))
    except FileExistsError:
        pass  # /dev/shm and /tmp are the same directory, and both may have this entry
    if kind != "symlink":
        bind(syscall, name, path, MS_BIND | MS_REC)


def bind(syscall, source, path, flags):
    syscall("mount", source.encode() + b"\0", path.encode() + b"\0", b"\0", flags, b"\0")


def watch_deaths(syscall):
    """Returns a descriptor that can be read when a worker has died. A signal handler would
    interrupt system calls that wait for the Runner's answer."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGCHLD])
    return syscall("signalfd4", -1, u64(1 << _signal.SIGCHLD - 1), 8, O_CLOEXEC)


def serve(syscall, config, receive_order, deaths):
    """Forks on request, and reports the end of each worker."""
    import select

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


def next_order(receive_order):
    message, fds = receive_order()
    if not message:
        posix._exit(0)  # the Runner has ended: the workers end with us
    return fds, marshal.loads(message)


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


main()
