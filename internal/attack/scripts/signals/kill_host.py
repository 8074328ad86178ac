# attack: send a signal to the host, with every call that can send one
# class: 13
# walls: seccomp pid landlock uid
# needs: syscall
# absent: os.kill
# alone: yes
# naked: same-uid

import signal, struct

def attempt():
    pid, number = context["host_pid"], int(signal.SIGUSR1)
    def info():
        return ctypes.create_string_buffer(struct.pack("iii", number, 0, -1) + bytes(116))
    calls = {
        "kill": lambda: os.kill(pid, number),
        "tgkill": lambda: syscall("tgkill", pid, pid, number),
        "tkill": lambda: syscall("tkill", pid, number),
        "rt_sigqueueinfo": lambda: syscall("rt_sigqueueinfo", pid, number, info()),
        "rt_tgsigqueueinfo": lambda: syscall("rt_tgsigqueueinfo", pid, pid, number, info()),
        "pidfd_send_signal": lambda: syscall("pidfd_send_signal", syscall("pidfd_open", pid, 0), number, None, 0),
    }
    def send(name):
        def route():
            calls[name]()
            return name + " reached the host"
        return route
    return any_of(*map(send, calls))

result = judged(attempt)
