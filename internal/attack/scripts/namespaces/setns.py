# attack: enter the host's namespaces through /proc and through a pidfd
# class: 1
# walls: seccomp mount capabilities
# needs: syscall
# naked: root

def attempt():
    def by_link(name):
        def route():
            fd = os.open("/proc/%d/ns/%s" % (context["host_pid"], name), os.O_RDONLY)
            syscall("setns", fd, 0)
            return "entered the host's %s namespace" % name
        return route
    def by_handle():
        syscall("setns", syscall("pidfd_open", context["host_pid"], 0), 0x20000 | 0x40000000)
        return "entered the host's namespaces"
    return any_of(by_link("net"), by_link("mnt"), by_link("uts"), by_handle)

result = judged(attempt)
