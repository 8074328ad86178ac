# attack: start programs with subprocess, os.system, os.popen and os.spawnv
# class: 22
# walls: seccomp
# absent: os.P_WAIT os.spawnv
# naked: yes

import subprocess

def attempt():
    words = [sys.executable, "-I", "-S", "-c", "print(%r)" % context["shout"]]
    def popen():
        return os.popen("echo " + context["shout"]).read() and "popen ran a shell"
    def spawn():
        return os.spawnv(os.P_WAIT, sys.executable, words) == 0 and "spawnv ran a program"
    return any_of(
        lambda: "subprocess ran: " + subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode(),
        lambda: os.system("exit 7") >> 8 == 7 and "system ran a shell", popen, spawn)

result = judged(attempt, subprocess.SubprocessError)
