# attack: administer the machine: modules, kexec, swap, accounting, quotas, reboot
# class: 1
# walls: seccomp capabilities
# needs: syscall
# naked: no it would administer the machine

# The arguments do no harm if the call is allowed; any answer of the kernel about them
# (EFAULT, EINVAL, ENOENT …) counts as a gain.
import errno

def attempt():
    calls = {
        "init_module": (0, 0, 0), "finit_module": (-1, b"", 0), "kexec_load": (0, 0, 0, 0x70000000),
        "swapon": (0, 0), "acct": (b"/" + context["marker"].encode(),), "quotactl": (0x80000000, 0, 0, 0),
        "reboot": (0, 0, 0, 0), "adjtimex": (0,), "clock_settime": (0, 0),
    }
    reached = []
    for name, arguments in calls.items():
        try:
            syscall(name, *arguments)
            reached.append(name)
        except OSError as e:
            if e.errno not in (errno.EPERM, errno.ENOSYS, errno.EACCES):
                reached.append("%s (%s)" % (name, e.strerror))
    return reached and "the kernel listens to " + ", ".join(reached)

result = judged(attempt)
