lacks("ctypes")
try:
    import ctypes
except ImportError:
    ctypes = None

# x86_64, aarch64; None where the architecture has no such call.
_NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280),
    "capget": (125, 90), "capset": (126, 91), "chroot": (161, 51), "clock_settime": (227, 112),
    "clone": (56, 220), "clone3": (435, 435), "execveat": (322, 281), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "fchmodat2": (452, 452), "finit_module": (313, 273),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430), "getpid": (39, 172),
    "init_module": (175, 105), "inotify_add_watch": (254, 27), "inotify_init1": (294, 26),
    "io_uring_setup": (425, 425), "ioctl": (16, 29), "ioperm": (173, None), "kcmp": (312, 272),
    "kexec_load": (246, 104), "keyctl": (250, 219), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "modify_ldt": (154, None), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 239),
    "mq_open": (240, 180), "mq_timedreceive": (243, 183), "msgget": (68, 186), "msgrcv": (70, 188),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "openat2": (437, 437), "perf_event_open": (298, 241), "personality": (135, 92),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41), "prctl": (157, 167), "prlimit64": (302, 261), "process_madvise": (440, 440),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "seccomp": (317, 277),
    "semget": (64, 190), "semop": (65, 193), "sendto": (44, 206), "setdomainname": (171, 162),
    "setfsuid": (122, 151), "sethostname": (170, 161), "setns": (308, 268),
    "setxattr": (188, 5), "shmat": (30, 196),
    "shmget": (29, 194), "socket": (41, 198), "statx": (332, 291), "swapon": (167, 224),
    "syslog": (103, 116), "tgkill": (234, 131), "tkill": (200, 130), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282),
}


def libc():
    if ctypes is None:
        raise Missing("ctypes", "this interpreter has no ctypes module")
    return ctypes.CDLL(None, use_errno=True)


def architecture(*wanted):
    libc()
    machine = os.uname().machine
    if machine not in wanted:
        raise Missing("architecture", "only on %s, this is %s" % (" or ".join(wanted), machine))


def syscall(name, *args):
    """Make the system call; every integer is passed with all 64 bits."""
    lib = libc()
    if isinstance(name, int):
        number = name
    else:
        column = {"x86_64": 0, "aarch64": 1}.get(os.uname().machine)
        number = None if column is None else _NUMBERS[name][column]
        if number is None:
            raise Missing("architecture", "no number of %s for %s" % (name, os.uname().machine))
    passed = [ctypes.c_uint64(a & (2**64 - 1)) if isinstance(a, int) else a for a in args]
    lib.syscall.restype = ctypes.c_long
    answer = lib.syscall(ctypes.c_long(number), *passed)
    if answer == -1:
        code = ctypes.get_errno()
        raise OSError(code, "%s: %s" % (name, os.strerror(code)))
    return answer


