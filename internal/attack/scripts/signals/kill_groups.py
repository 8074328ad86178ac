# attack: signal the host's process group, and the guest's own with the Runner in it
# class: 13
# walls: pid seccomp landlock uid environment
# absent: os.kill os.killpg
# alone: yes
# naked: same-uid

import signal

# If the guest's group has no other process, the host receives nothing.
def attempt():
    def host_group():
        os.killpg(context["host_pgid"], signal.SIGCONT)
        return "signalled the host's group"
    def own_group():
        os.kill(0, signal.SIGCONT)
    return any_of(host_group, own_group)

result = judged(attempt)
