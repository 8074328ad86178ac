# attack: reach the host's files through the root, cwd and exe links in /proc
# class: 20
# walls: mount landlock
# naked: yes

def attempt():
    path = context["canary_file"]
    starts = ["/proc/self/root", "/proc/1/root", "/proc/%d/root" % context["host_pid"], "/proc/thread-self/root",
              "/proc/%d/cwd/../../../../../../../.." % context["host_pid"], "/dev/fd/../root"]
    def route(start):
        return lambda: context["mark"] in read(start + path) and "read it through " + start
    return any_of(*map(route, starts))

result = judged(attempt)
