# attack: read hardware, modules and network interfaces in /sys
# class: 10
# walls: mount landlock
# gvisor: gVisor's own /sys

def attempt():
    def route(path):
        return lambda: "lists %s: %s" % (path, os.listdir(path)[:5])
    return any_of(*map(route, ("/sys", "/sys/class/net", "/sys/module", "/sys/fs/cgroup", "/sys/kernel/debug", "/sys/firmware")))

result = judged(attempt)
