"""How many threads the libraries use that a guest imports."""
import posix
import sys

RTLD_NOLOAD = 4

# Functions that set how many threads a library uses: OpenBLAS under each name that numpy and
# scipy build it with, MKL, OpenMP.
THREAD_SETTERS = (
    "scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "openblas_set_num_threads64_",
    "openblas_set_num_threads", "MKL_Set_Num_Threads", "omp_set_num_threads",
)


def thread_setters():
    """Returns the functions by which preloaded libraries get another number of threads. They
    are found through the extension modules that depend on them: a library that a module
    brings along is not in the global scope."""
    paths = {getattr(module, "__dict__", {}).get("__file__") for module in sys.modules.values()}
    paths = sorted(path for path in paths if isinstance(path, str) and path.endswith(".so") and "/lib-dynload/" not in path)
    if not paths:
        return []
    import _ctypes

    class Function(_ctypes.CFuncPtr):
        _flags_ = _ctypes.FUNCFLAG_CDECL

    found = {}
    for path in paths:
        try:
            library = _ctypes.dlopen(path, RTLD_NOLOAD)
        except OSError:
            continue
        for name in THREAD_SETTERS:
            try:
                at = _ctypes.dlsym(library, name)
            except OSError:
                continue
            found[at] = Function(at)
    return list(found.values())


def use_threads(variables, setters, n):
    """Makes libraries for numeric work use n threads. Those that are loaded have read the
    variables already. Some start their threads now, which count as the guest's."""
    os = sys.modules.get("os")
    for name in variables:
        posix.environ[name.encode()] = b"%d" % n
        if os is None:
            posix.putenv(name.encode(), b"%d" % n)
        else:
            os.environ[name] = "%d" % n
    for setter in setters:
        setter(n)
