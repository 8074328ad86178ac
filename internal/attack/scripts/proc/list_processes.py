# attack: list the processes of the host and their command lines
# class: 10
# walls: mount pid landlock

def attempt():
    pids = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    return len(pids) > 2 and "sees %d other processes, the first is %r" % (len(pids), read("/proc/%s/cmdline" % pids[0]))

result = judged(attempt)
