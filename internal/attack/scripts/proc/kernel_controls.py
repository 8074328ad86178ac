# attack: open the kernel's controls for writing: core_pattern, sysrq-trigger, cgroups, uevent_helper
# class: 10
# walls: mount landlock uid
# gvisor: gVisor's own /proc, with the guest's own processes
# naked: root

import glob

# The files are opened and never written: opening is the gain, a write would harm the
# machine.
def attempt():
    names = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper",
             "/proc/self/oom_score_adj", "/proc/self/uid_map"]
    names += glob.glob("/sys/fs/cgroup/*/cgroup.procs")[:1] + ["/sys/fs/cgroup/cgroup.procs"]
    def route(path):
        def opens():
            os.close(os.open(path, os.O_WRONLY))
            return "opened " + path + " for writing"
        return opens
    return any_of(*map(route, names))

result = judged(attempt)
