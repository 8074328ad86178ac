# attack: raise any limit above what the guest was given
# class: 7
# walls: rlimit seccomp
# needs: syscall
# absent: resource
# naked: no the host may have no limits to raise

import resource, struct

def attempt():
    raised = []
    for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT_")):
        number = getattr(resource, name)
        soft, hard = resource.getrlimit(number)
        if hard == resource.RLIM_INFINITY:
            continue
        for change in (lambda: resource.setrlimit(number, (-1, -1)), lambda: resource.setrlimit(number, (hard + 1, hard + 1)),
                       lambda: syscall("prlimit64", 0, number, struct.pack("QQ", 2**64 - 1, 2**64 - 1), None)):
            try:
                change()
            except (OSError, ValueError):
                continue
            after = resource.getrlimit(number)[1]
            if after == resource.RLIM_INFINITY or after > hard:
                raised.append(name)
    return raised and "raised " + " ".join(raised)

result = judged(attempt)
