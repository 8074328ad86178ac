"""The guest side of the fork server, first part: the kernel.

The program has two halves. Every interpreter loads the first: system.py, script.py (in
internal/script), worker.py and start.py, in this order. The second is loaded when it is
needed (load_late): failures.py, values.py, randomness.py and fonts.py (in internal/script),
threads.py, hook.py, plots.py, session.py and
server.py. A fork server loads it at its start, the interpreter of
a single run only for a script that fails or asks for more than a result. modules.py is sent
and loaded only where a policy has rules for imported modules.

Everything it uses is built into the interpreter: each import costs every start, and each
touched page costs every fork.
"""
import posix
import sys

# From <linux/...>: system calls that no module wraps go through libc's
# syscall(). Their numbers come from the Runner, which knows the architecture.
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC = 2, 4, 8, 4096, 16384
PR_SET_PDEATHSIG, SIGKILL = 1, 9
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8
LANDLOCK_RULE_PATH_BENEATH = 1
SOL_SOCKET, SCM_RIGHTS = 1, 1
O_PATH, O_CLOEXEC = 0o10000000, 0o2000000

# From CPython's <compile.h>.
FILE_INPUT, SOURCE_IS_UTF8, IGNORE_COOKIE = 257, 0x0100, 0x0800

# The descriptors that the Runner knows by number.
CONTROL, CHANNEL = 1020, 3


class SetupFailure(Exception):
    """A step that failed. No guest code has run."""


class LibC:
    """libc's syscall() and memmove(). Bound with _ctypes only: importing ctypes would add a
    third to the start of the interpreter."""

    def __init__(self, numbers):
        import _ctypes

        # The type of an argument that is longer than a C int.
        class Word(_ctypes._SimpleCData):
            _type_ = "l"

        class Byte(_ctypes._SimpleCData):
            _type_ = "c"

        class Function(_ctypes.CFuncPtr):
            _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
            _restype_ = Word

        function = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))

        def syscall(name, *args):
            # Integers are passed as C ints, which libffi extends to whole
            # registers, and bytes as their address.
            out = function(numbers[name], *args)
            if out < 0:
                errno = _ctypes.get_errno()
                raise SetupFailure("%s: %s" % (name, posix.strerror(errno)))
            return out

        def buffer(size):
            """Returns the address and a view of memory that the kernel may write to."""
            memory = (Byte * size)()
            return _ctypes.addressof(memory), memoryview(memory).cast("B")

        self.syscall, self.memmove, self.Word, self.buffer = syscall, Function(_ctypes._memmove_addr), Word, buffer


def quick_compiler():
    """Returns the C function behind compile(). compile() first creates the hundred classes
    of the ast module, which takes longer than the rest of a single run."""
    import _ctypes

    class Object(_ctypes._SimpleCData):
        _type_ = "O"

    class Function(_ctypes.CFuncPtr):
        _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_PYTHONAPI
        _restype_ = Object

    try:
        function = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "Py_CompileStringObject"))
    except OSError:
        return compiled
    flags = b"".join(n.to_bytes(4, sys.byteorder) for n in (SOURCE_IS_UTF8 | IGNORE_COOKIE, sys.version_info[1]))

    def quickly_compiled(script, name):
        if "\0" in script:
            return compiled(script, name)  # which raises the error
        return function(script.encode(), Object(name), FILE_INPUT, flags, -1)

    return quickly_compiled


def u16(n):
    return n.to_bytes(2, sys.byteorder)


def u64(n):
    return n.to_bytes(8, sys.byteorder)


def address(data):
    """Returns the address of the data of a bytes object; CPython's layout since 3.3."""
    return id(data) + bytes.__basicsize__ - 1


def message_header(data, data_size, rights, rights_size):
    """A struct msghdr and its only struct iovec, as addresses."""
    vector = u64(data) + u64(data_size)
    return vector, u64(0) * 2 + u64(address(vector)) + u64(1) + u64(rights) + u64(rights_size) + u64(0)


def send_descriptor(syscall, data, fd):
    """Sends a message with a descriptor. It does without _socket, which some interpreters
    must search for in a directory."""
    rights = u64(20) + (SOL_SOCKET | SCM_RIGHTS << 32).to_bytes(8, sys.byteorder) + u64(fd)
    vector, header = message_header(address(data), len(data), address(rights), len(rights))
    syscall("sendmsg", CONTROL, header, 0)


def receiver(libc):
    """Returns a function that receives a message with descriptors."""
    data_at, data = libc.buffer(4096)
    rights_at, rights = libc.buffer(256)
    header_at, header = libc.buffer(56)
    vector, fresh = message_header(data_at, len(data), rights_at, len(rights))
    header_at, numbers = libc.Word(header_at), rights.cast("i")

    # The default argument keeps the vector alive: the header only has its address.
    def receive(syscall=libc.syscall, vector=vector):
        header[:] = fresh
        rights[:8] = u64(0)
        size = syscall("recvmsg", CONTROL, header_at, 0)
        # Four words are their header, which begins with the length: 0 without any.
        return data[:size].tobytes(), numbers[4 : numbers[0] // 4].tolist()

    return receive


def install_filter(syscall, program, flags):
    """Installs a compiled seccomp program and returns the kernel's answer: the listener, if
    flags ask for one."""
    header = u16(len(program) // 8) + bytes(6) + u64(address(program))
    return syscall("seccomp", SECCOMP_SET_MODE_FILTER, flags, header)


def limiter(syscall, resources, oneshot):
    """Returns the function that reads what comes before the start frame, and returns what it
    read of the frame. Usually the Runner has set the limits of the guest, and this is one
    byte. Else it is followed by a value for each resource, which the worker sets for good:
    without capabilities none can be raised again. If the host's own limit is lower, that one
    stays. The resource module is faster to call, but loading it takes longer than it saves in
    one run."""
    if oneshot:
        def setrlimit(which, pair):
            syscall("prlimit64", 0, which, u64(pair[0]) + u64(pair[1]), 0)
    else:
        from resource import setrlimit

    def limit():
        data = posix.read(CHANNEL, READ_AT_ONCE) or posix._exit(0)
        if data[0] == 0:
            return data[1:]
        end = 1 + 8 * len(resources)
        while len(data) < end:
            data += posix.read(CHANNEL, end - len(data)) or posix._exit(0)
        for i, which in enumerate(resources):
            value = int.from_bytes(data[8 * i + 1 : 8 * i + 9], "little")
            try:
                setrlimit(which, (value, value))
            except Exception:
                from resource import getrlimit

                if not 0 <= getrlimit(which)[1] <= value:
                    raise
        return data[end:]

    return limit


def rule_for(path, access):
    """Returns a struct landlock_path_beneath_attr, which is packed, with its open
    descriptor."""
    return u64(access) + posix.open(path, O_PATH | O_CLOEXEC).to_bytes(4, sys.byteorder)


def prepare_rules(plan, home):
    """Opens once what all workers share, at numbers above those that a worker uses for its
    channel."""
    while posix.open("/", O_PATH | O_CLOEXEC) < CHANNEL:
        pass
    plan["attr"] = b"".join(u64(n) for n in plan["handled"])
    plan["common"] = [rule_for(path, access) for path, access in plan["rules"] if path != home]
    plan["own"] = [rule for rule in plan["rules"] if rule[0] == home]


def restrict_paths(syscall, plan):
    """Landlock: allows what the plan grants and nothing else, for good. The descriptors stay
    open."""
    ruleset = syscall("landlock_create_ruleset", plan["attr"], len(plan["attr"]), 0)
    for rule in plan["common"]:
        syscall("landlock_add_rule", ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0)
    for path, access in plan["own"]:
        syscall("landlock_add_rule", ruleset, LANDLOCK_RULE_PATH_BENEATH, rule_for(path, access), 0)
    syscall("landlock_restrict_self", ruleset, 0)
