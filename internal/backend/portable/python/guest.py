"""Last part: the guest side of package portable: each script has its own process, behind the
walls of a system other than Linux, or on gVisor.

    Runner                            here
    ──────                            ────
    program, by standard input  ──▶   the loader (program.go) executes it
    order                       ──▶   path, preload, language, filter, memory
                                ◀──   ready, by the channel: empty, or what failed
    start, or check             ──▶   script, name, context, variables, args, work
    the script's own input      ──▶   what is left of standard input
                                ◀──   done: the report, see internal/report
    or hook                     ──▶   number, script, name
                                ◀──   done: it is compiled, or findings
    call, as often as needed    ──▶   number, function, arguments
                                ◀──   done, or last: the report

Up to "ready" all messages are ours. After that any message may be the guest's.
"""
import marshal
import sys

# The channel of a guest with a filter, which knows it by this number.
FILTERED_CHANNEL = 3


def open_channel(name):
    if sys.platform != "win32":
        return int(name)
    import msvcrt

    return msvcrt.open_osfhandle(int(name), system.O_WRONLY | system.O_BINARY | system.O_NOINHERIT)


def frame(kind, payload):
    """Returns kind, length, payload. See internal/wire."""
    return kind + len(payload).to_bytes(4, "little") + payload


def write_all(fd, data):
    data = memoryview(data)
    while data:
        data = data[system.write(fd, data[: 1 << 20]) :]


def send(data):
    """Sends a frame. If it answers a message of a hook, it ends the output of that message
    first: see callOutput in calls.go."""
    global MARK
    if MARK:
        flush()
        for fd in 1, 2:
            try:
                write_all(fd, MARK)
            except OSError:
                pass  # the guest closed it
        MARK = b""
    write_all(CHANNEL, data)


def receive():
    """Reads a frame, and not a byte more: what follows is the guest's input."""
    global MARK
    header = take(5)
    kind, value = header[:1], marshal.loads(take(int.from_bytes(header[1:], "little")))
    if kind == b"H" or kind == b"K":
        MARK = value[0].to_bytes(8, "little")
    return kind, value


CHANNEL = open_channel(sys.argv[1])
MARK = b""


class LibC:
    """Functions of the C library, without importing ctypes."""

    def __init__(self):
        import _ctypes

        class Int(_ctypes._SimpleCData):
            _type_ = "i"

        class Byte(_ctypes._SimpleCData):
            _type_ = "c"

        class Function(_ctypes.CFuncPtr):
            _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
            _restype_ = Int

        self._ctypes, self._byte, self._function = _ctypes, Byte, Function

    def call(self, name, *args):
        function = self._function(self._ctypes.dlsym(self._ctypes.dlopen(None, 0), name))
        if function(*args) != 0:
            raise OSError(self._ctypes.get_errno(), name)

    def install(self, program):
        """Installs a system call filter."""
        memory = (self._byte * len(program)).from_buffer_copy(program)
        # struct sock_fprog of <linux/filter.h>
        header = (len(program) // 8).to_bytes(8, "little") + self._ctypes.addressof(memory).to_bytes(8, "little")
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
        self.call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header)

    def limit(self, more):
        """Limits the address space to what is in use, and more bytes."""
        RLIMIT_AS, page = 9, 4096
        statm = system.open("/proc/self/statm", system.O_RDONLY)
        used = int(system.read(statm, 100).split()[0]) * page
        system.close(statm)
        self.call("setrlimit", RLIMIT_AS, (used + more).to_bytes(8, "little") * 2)


def main():
    global CHANNEL
    step = "order"
    try:
        path, preload, language, program, memory = receive()[1]
        sys.path[:] = path
        step = "preload"
        prepare(preload)
        step = "language"
        rules, names, compiling = None, sys.modules["builtins"], compiled
        if language is not None:
            modules, builtins, source, ahead = language
            load_language(b"", source)
            rules = learn_language(modules, builtins, ahead)
            names, compiling = rules.builtins, rules.compiled
        space = stage(names)
        if program:
            step = "filter"
            system.dup2(CHANNEL, FILTERED_CHANNEL)
            system.close(CHANNEL)
            CHANNEL = FILTERED_CHANNEL
            libc = LibC()
            if memory:
                libc.limit(memory)
            libc.install(program)
        out_of_memory = raised("MemoryError")  # made in advance, while there is memory
    except BaseException as error:
        words = {"step": step, "error": bounded(str, error, 1000)}
        send(frame(b"R", marshal.dumps(words, 2)))
        system._exit(1)
    send(frame(b"R", b""))
    try:
        kind, what = receive()
        if kind == b"H":
            _, script, name, most = what
            sys.stdin = __import__("io").StringIO()  # the calls come from the real one
            serve_hook(rules, script, name, most, None, None)
            system._exit(0)
        script, name, context, shown, args, work, most = what
        if kind == b"V":
            report = {"end": "checked", "code": 0, "findings": rules.check(script, name)}
        else:
            if work:
                system.chdir(work)
                sys.path.insert(0, system.getcwd())
            report = run(script, name, context, shown, None, space, compiling, args)
        flush()
        words = pack(report, most)
    except MemoryError:
        words = out_of_memory
        flush()
    send(frame(b"D", words))
    system._exit(0)


main()
