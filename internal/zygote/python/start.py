"""The start of an interpreter: it builds what its guests share, and then serves as fork
server, or becomes the worker of a single run.

A short loader (bytecode.go) starts this as __main__ behind the walls of internal/confine,
with one descriptor: the control socket.
"""
import gc
import marshal
import posix
import sys

import _signal

PACKET = 128 << 10  # packetSize in bytecode.go


def main():
    step = "configuration"
    try:
        config = marshal.loads(posix.read(CONTROL, 1 << 18))
        oneshot, language = config["oneshot"], config["language"]
        posix.environ.pop(b"LD_BIND_NOW", None)  # set for us only, in start_linux.go
        if not oneshot:
            load_late()
        if language:
            load_language(read_program(), read_program())
        config["modules"] = load_modules() if config["modules"] else None
        libc = LibC(config["numbers"])
        syscall, receive_order = libc.syscall, receiver(libc)
        step = "preload"
        sys.path[:] = config["path"]
        prepare(config["preload"], config["optional"])
        if not oneshot:
            config["setters"] = thread_setters()
            posix.write(CONTROL, b"M")
            enlarge(libc, marshal.loads(posix.read(CONTROL, 4096)))
        config["builtins"], config["compiled"] = sys.modules["builtins"], compiled
        if language:
            step = "language"
            rules = config["rules"] = learn_language(*language, not oneshot)
            config["builtins"], config["compiled"] = rules.builtins, rules.compiled
        if not oneshot:
            step = "warm up"
            warm_up_often(config)
        gc.disable()
        if oneshot:
            config["randomness"] = None  # there is only one guest
            # Nobody can permit a mount yet once the filter is installed.
            step = "scratch"
            fds, wanted = next_order(receive_order)
            mount_scratch(syscall, config, wanted)
        else:
            step = "randomness"
            config["randomness"] = Randomness()
            config["randomness"].renew()  # errors show before anything is forked
            step = "signals"
            deaths = watch_deaths(syscall)
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
        load_late()
        posix.write(CONTROL, ("E%s\0%s" % (step, bounded(str, error, 1000))).encode("utf-8", "replace"))
        posix._exit(1)

    # With a pid namespace a worker dies with us. Without one, or if we are the worker, it
    # must ask for a parent death signal.
    config["parent"] = None
    if oneshot and not language:
        config["compiled"] = quick_compiler()
    config["limit"] = limiter(syscall, config["resources"], oneshot)
    config["descriptors"] = [CONTROL] + config["namespaces"]
    _signal.signal(_signal.SIGURG, buffer_output)
    if config["landlock"]:
        prepare_rules(config["landlock"], config["home"])
    if language and not oneshot:
        # What was imported since the rules were learned, and what serve() needs,
        # belongs to the library too. Otherwise each worker would scan all classes
        # again.
        import select

        rules.load(())
    # Nothing here is garbage. Frozen objects are not scanned by the first collection of
    # every guest.
    gc.freeze()
    if oneshot:
        config["parent"] = posix.getppid()
        worker(syscall, config, fds, wanted)
    serve(syscall, config, receive_order, deaths)


def read_program():
    """Reads packets up to and including the first short one."""
    data = packet = posix.read(CONTROL, PACKET)
    while len(packet) == PACKET:
        packet = posix.read(CONTROL, PACKET)
        data += packet
    return data


def load_modules():
    """Loads the audit hook for imported modules, of a policy with rules for them."""
    load_late()
    exec(compile(read_program(), "<cordon>", "exec"), globals())
    return ModuleWatch(marshal.loads(read_program()))


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


def next_order(receive_order):
    message, fds = receive_order()
    if not message:
        posix._exit(0)  # the Runner has ended: the workers end with us
    return fds, marshal.loads(message)


main()
