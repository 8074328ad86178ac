# attack: write to read-only memory, and to memory of other processes, through /proc/PID/mem
# class: 10
# walls: mount landlock
# gvisor: gVisor's own /proc, with the guest's own processes
# naked: yes

def attempt():
    def route(pid):
        def opens():
            os.close(os.open("/proc/%s/mem" % pid, os.O_RDWR))
            return "opened the memory of " + str(pid)
        return opens
    return any_of(*map(route, ("self", context["host_pid"], parent(), 1)))

result = judged(attempt)
