# attack: fork until the machine has no resources left
# class: 6
# walls: seccomp rlimit cgroup
# absent: os.fork
# naked: no a fork bomb harms the machine
# limits: wall_time=3s
# alone: yes

def attempt():
    made = 0
    while made < 300:
        pid = os.fork()
        if pid == 0:
            import time
            time.sleep(2)
            os._exit(0)
        made += 1
    return "had %d children at once" % made

result = judged(attempt)
