"""Last part: the guest side of package portable: each script has its own process, behind the
walls of a system other than Linux, or on gVisor.

    Runner                            here
    ──────                            ────
    program, by standard input  ──▶   the loader (program.go) executes it
    order                       ──▶   path, preload, language, filter, memory
                                ◀──   ready, by the channel: empty, or what failed
    start, or check             ──▶   script, name, context, variables
    the script's own input      ──▶   what is left of standard input
                                ◀──   done: the report, see internal/report

Up to "ready" all messages are ours. After that any message may be the guest's.
"""
import marshal
import sys

# The channel of a guest with a filter.
CHANNEL = 3


def open_channel(name):
    if sys.platform != "win32":
        return int(name)
    import msvcrt

    return msvcrt.open_osfhandle(int(name), system.O_WRONLY | system.O_BINARY | system.O_NOINHERIT)


def send(channel, kind, payload):
    """Sends kind, length, payload. See internal/wire."""
    data = memoryview(kind + len(payload).to_bytes(4, "little") + payload)
    while data:
        data = data[system.write(channel, data[: 1 << 20]) :]


def receive():
    """Reads a frame, and not a byte more: what follows is the guest's input."""
    header = take(5)
    return header[:1], marshal.loads(take(int.from_bytes(header[1:], "little")))


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
    channel = open_channel(sys.argv[1])
    step = "order"
    try:
        path, preload, language, program, memory = receive()[1]
        sys.path[:] = path
        step = "preload"
        prepare(preload)
        step = "language"
        rules, names, compiling = None, sys.modules["builtins"], compiled
        if language is not None:
            modules, builtins, source = language
            load_language(b"", source)
            rules = learn_language(modules, builtins, False)
            names, compiling = rules.builtins, rules.compiled
        space = stage(names)
        if program:
            step = "filter"
            system.dup2(channel, CHANNEL)
            system.close(channel)
            channel = CHANNEL
            libc = LibC()
            if memory:
                libc.limit(memory)
            libc.install(program)
        out_of_memory = raised("MemoryError")  # made in advance, while there is memory
    except BaseException as error:
        words = {"step": step, "error": bounded(str, error, 1000)}
        send(channel, b"R", marshal.dumps(words, 2))
        system._exit(1)
    send(channel, b"R", b"")
    kind, (script, name, context, shown, most) = receive()
    try:
        if kind == b"V":
            report = {"end": "checked", "code": 0, "findings": rules.check(script, name)}
        else:
            report = run(script, name, context, shown, None, space, compiling)
        flush()
        words = pack(report, most)
    except MemoryError:
        words = out_of_memory
        flush()
    send(channel, b"D", words)
    system._exit(0)


main()
