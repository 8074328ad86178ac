# attack: read the table of mounts, the control groups and the kernel's symbols
# class: 10
# walls: mount landlock
# gvisor: gVisor's own /proc, with the guest's own processes

def attempt():
    def route(path):
        return lambda: read(path) and "read " + path
    return any_of(*map(route, ("/proc/self/mountinfo", "/proc/mounts", "/proc/self/cgroup", "/proc/kallsyms", "/proc/net/tcp", "/proc/cmdline")))

result = judged(attempt)
