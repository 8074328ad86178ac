"""What WebAssembly does not have: threads, a network, other programs.

Modules for these can still be imported: many libraries import them and never use them.
What cannot work raises the exception that scripts expect, and says what to do instead.
Modules are patched when they are imported, so that unused ones cost nothing.
"""
import errno
import sys

NO_THREADS = "can't start new thread: the wasm tier has no threads (do one thing after another, or use asyncio)"
NO_NETWORK = "the wasm tier has no network (pass the data in as input, or ask a tool for it)"
NO_PROGRAMS = "the wasm tier starts no other programs (do it in Python, or ask a tool for it)"
NO_SIGNALS = "the wasm tier has no signals (the limits of a run end it in time; within it, asyncio.timeout does)"
NO_DESCRIPTORS = "the wasm tier has no pipes and cannot duplicate descriptors (keep data in io.BytesIO, redirect output with contextlib)"
NO_USERS = "the wasm tier has no users"
NO_MACHINE = "the wasm tier does not know its machine, and uses one CPU of it"
NO_LIBRARIES = "the wasm tier loads no shared libraries (the tier process does)"
NO_UNIX = "the wasm tier has no Unix below it (the tier process has)"
NOT_BUILT = "the module is not built for the wasm tier (the tier process has it)"
NOT_BUILT_ZLIB = "the module is not built for the wasm tier (zlib, gzip and zipfile are; the tier process has it)"
ONLY_STANDARD = "the wasm tier only has the standard library (the tier process has the packages of its virtual environment)"
NO_TIME_ZONE = "the wasm tier keeps time in UTC (for others, use zoneinfo.ZoneInfo)"
ONE_THREAD = "the wasm tier has one thread (use time.process_time)"

# The missing modules that scripts import most.
ABSENT_MODULES = {
    NO_PROGRAMS: "_posixsubprocess",
    NO_LIBRARIES: "ctypes _ctypes",
    NO_USERS: "grp pwd spwd",
    NO_UNIX: "curses _curses fcntl mmap ossaudiodev readline resource syslog termios",
    NOT_BUILT: "sqlite3 _sqlite3 ssl _ssl tkinter _tkinter turtle",
    NOT_BUILT_ZLIB: "_bz2 _lzma",
    ONLY_STANDARD: "PIL matplotlib numpy pandas requests scipy sklearn yaml",
}

# Names that modules of the standard library have on other systems.
ABSENT_NAMES = {
    "os": {
        NO_PROGRAMS: "execl execle execlp execlpe execv execve execvp execvpe fork forkpty posix_spawn posix_spawnp"
                     " spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe wait wait3 wait4 waitid waitpid",
        NO_SIGNALS: "kill killpg",
        NO_DESCRIPTORS: "dup dup2 openpty pipe pipe2",
        NO_USERS: "chown fchown getegid geteuid getgid getgroups getlogin getuid lchown setgid setuid",
        NO_MACHINE: "getloadavg getppid getpriority nice sched_getaffinity sched_setaffinity",
    },
    "signal": {
        NO_SIGNALS: "alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigtimedwait"
                    " sigwait sigwaitinfo",
    },
    "time": {NO_TIME_ZONE: "tzset", ONE_THREAD: "thread_time thread_time_ns"},
    "hashlib": {NOT_BUILT: "scrypt"},
}


def by_name(table):
    return {name: words for words, names in table.items() for name in names.split()}


def refuses(make):
    """Returns a function that takes any arguments and raises what make returns."""
    def refuse(*args, **kwargs):
        raise make()

    return refuse


def no_programs():
    return OSError(errno.ENOTSUP, NO_PROGRAMS)


def no_network():
    return OSError(errno.ENETUNREACH, NO_NETWORK)


def explain_names(module):
    """Makes a module say why a name is missing. hasattr, which many programs call first,
    still returns False."""
    reasons = by_name(ABSENT_NAMES[module.__name__])

    def __getattr__(name):
        why = reasons.get(name)
        raise AttributeError("module %r has no attribute %r%s" % (module.__name__, name, ": " + why if why else ""))

    module.__getattr__ = __getattr__


class Absence:
    """The last finder of modules. It says why some modules do not exist."""

    reasons = by_name(ABSENT_MODULES)

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        why = cls.reasons.get(name)
        # importlib.util.find_spec, which only asks whether a module exists, gets None
        # as usual.
        if why is None or sys._getframe(2).f_code.co_name != "_find_and_load_unlocked":
            return None
        raise ModuleNotFoundError("No module named %r: %s" % (name, why), name=name)


class PatchingFinder:
    """Finds modules as the other finders do, and patches some of them once they are loaded."""

    def __init__(self, patches):
        self.patches = patches  # by the name of the module

    def find_spec(self, name, path=None, target=None):
        patch = self.patches.get(name)
        if patch is None:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                spec.loader = PatchingLoader(spec.loader, patch)
                return spec
        return None


class PatchingLoader:
    """The loader of a module that is patched."""

    def __init__(self, loader, patch):
        self.loader, self.patch = loader, patch

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        # Restore the real loader, which other code asks for the source.
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.patch(module)


def install_absences():
    """Replaces what is missing by functions that say so. This must run before any other
    import, which would bind the originals."""
    import _thread
    import os

    starts = refuses(lambda: RuntimeError(NO_THREADS))
    for module in _thread, sys.modules.get("threading"):
        for name in "start_new_thread", "start_new", "start_joinable_thread":
            for spelling in name, "_" + name:
                if hasattr(module, spelling):
                    setattr(module, spelling, starts)
    os.system = refuses(no_programs)
    sys.modules["_socket"] = make_socket_module()
    try:
        import select
    except ImportError:
        select = sys.modules["select"] = type(sys)("select")
        select.error, select.select = OSError, refuses(no_network)
    sys.modules["_multiprocessing"] = make_multiprocessing_module()
    patches = {
        "asyncio": patch_asyncio, "http.client": patch_http, "multiprocessing.connection": patch_pipes,
        "multiprocessing.process": patch_processes, "subprocess": patch_subprocess,
    }
    patches.update(dict.fromkeys(ABSENT_NAMES, explain_names))
    sys.meta_path.insert(0, PatchingFinder(patches))
    sys.meta_path.append(Absence)
    for name in patches:
        if name in sys.modules:
            patches[name](sys.modules[name])


def patch_subprocess(subprocess):
    subprocess.Popen.__init__ = refuses(no_programs)


def patch_processes(process):
    process.BaseProcess.start = refuses(no_programs)


def patch_pipes(connection):
    connection.Pipe = refuses(no_programs)


def patch_http(client):
    """Without OpenSSL there is no HTTPS, and urllib would report an unknown URL type. The
    right message is that there is no network."""
    if hasattr(client, "HTTPSConnection"):
        return

    class HTTPSConnection(client.HTTPConnection):
        default_port = client.HTTPS_PORT

        def __init__(self, host, port=None, *args, **kwargs):
            super().__init__(host, port)

    HTTPSConnection.__module__, HTTPSConnection.__qualname__ = client.__name__, "HTTPSConnection"
    client.HTTPSConnection = HTTPSConnection


def make_multiprocessing_module():
    """Makes the C module of multiprocessing, so that its parts can be imported. They all
    begin with a lock."""
    class SemLock:
        SEM_VALUE_MAX = 2**31 - 1
        __init__ = refuses(no_programs)
        _rebuild = refuses(no_programs)

    made = type(sys)("_multiprocessing")
    made.__dict__.update(SemLock=SemLock, sem_unlink=refuses(no_programs), flags={})
    return made


# Linux's numbers. Scripts have them in tables; they are never sent.
SOCKET_CONSTANTS = dict(
    AF_UNSPEC=0, AF_INET=2, AF_INET6=10, SOCK_STREAM=1, SOCK_DGRAM=2, SOCK_RAW=3, SOCK_NONBLOCK=2048, SOCK_CLOEXEC=524288,
    SOL_SOCKET=1, SOL_TCP=6, SOL_UDP=17, SOMAXCONN=4096, SHUT_RD=0, SHUT_WR=1, SHUT_RDWR=2,
    SO_REUSEADDR=2, SO_TYPE=3, SO_ERROR=4, SO_BROADCAST=6, SO_SNDBUF=7, SO_RCVBUF=8, SO_KEEPALIVE=9, SO_LINGER=13,
    IPPROTO_IP=0, IPPROTO_ICMP=1, IPPROTO_TCP=6, IPPROTO_UDP=17, IPPROTO_IPV6=41, IPV6_V6ONLY=26,
    TCP_NODELAY=1, TCP_KEEPIDLE=4, TCP_KEEPINTVL=5, TCP_KEEPCNT=6,
    MSG_OOB=1, MSG_PEEK=2, MSG_DONTWAIT=64, MSG_WAITALL=256, MSG_NOSIGNAL=16384,
    AI_PASSIVE=1, AI_CANONNAME=2, AI_NUMERICHOST=4, AI_ADDRCONFIG=32, AI_NUMERICSERV=1024,
    NI_NUMERICHOST=1, NI_NUMERICSERV=2, NI_NAMEREQD=8, NI_DGRAM=16,
    EAI_AGAIN=-3, EAI_FAIL=-4, EAI_FAMILY=-6, EAI_NONAME=-2, EAI_SERVICE=-8, EAI_SOCKTYPE=-7,
    INADDR_ANY=0, INADDR_LOOPBACK=0x7F000001, INADDR_BROADCAST=0xFFFFFFFF, INADDR_NONE=0xFFFFFFFF, has_ipv6=True,
)


def make_socket_module():
    """Makes the C module of socket. The standard library adds the rest."""
    class socket:
        __slots__ = ()
        __init__ = refuses(no_network)

    class herror(OSError):
        """No host can be found."""

    class gaierror(OSError):
        """No address can be found."""

    for kind in herror, gaierror:
        kind.__module__, kind.__qualname__ = "socket", kind.__name__
    timeout = None

    def setdefaulttimeout(seconds):
        nonlocal timeout
        timeout = seconds

    def swapped(size):
        return lambda number: int.from_bytes(number.to_bytes(size, sys.byteorder), "big")

    def packed_address(text, kind):
        import ipaddress

        try:
            return kind(ipaddress)(text).packed
        except ValueError as error:
            raise OSError("illegal IP address: %s" % error) from None

    def address_text(data, size):
        import ipaddress

        if len(data) != size:
            raise ValueError("packed IP wrong length")
        return str(ipaddress.ip_address(bytes(data)))

    def version(family):
        return ("IPv6Address", 16) if family == SOCKET_CONSTANTS["AF_INET6"] else ("IPv4Address", 4)

    made = type(sys)("_socket")
    space = made.__dict__
    space.update(SOCKET_CONSTANTS, socket=socket, SocketType=socket, error=OSError, timeout=TimeoutError)
    space.update(herror=herror, gaierror=gaierror, setdefaulttimeout=setdefaulttimeout, getdefaulttimeout=lambda: timeout)
    space.update(
        htons=swapped(2), ntohs=swapped(2), htonl=swapped(4), ntohl=swapped(4),
        inet_aton=lambda text: packed_address(text, lambda ipaddress: ipaddress.IPv4Address),
        inet_ntoa=lambda data: address_text(data, 4),
        inet_pton=lambda family, text: packed_address(text, lambda ipaddress: getattr(ipaddress, version(family)[0])),
        inet_ntop=lambda family, data: address_text(data, version(family)[1]),
        gethostname=lambda: "localhost",
    )
    for name in "getaddrinfo", "gethostbyname", "gethostbyname_ex", "getnameinfo":
        space[name] = refuses(lambda: gaierror(SOCKET_CONSTANTS["EAI_FAIL"], NO_NETWORK))
    space["gethostbyaddr"] = refuses(lambda: herror(1, NO_NETWORK))
    for name in "dup", "close", "getprotobyname", "getservbyname", "getservbyport", "if_nameindex", "if_nametoindex":
        space[name] = refuses(no_network)
    return made
