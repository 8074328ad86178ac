# attack: find a controlling terminal, or get one by opening a pseudo-terminal
# class: 12
# walls: environment mount landlock
# absent: os.tcgetpgrp pty
# naked: yes maybe the host may have no terminals

import pty

def attempt():
    def tty():
        os.close(os.open("/dev/tty", os.O_RDWR))
        return "has a controlling terminal"
    def new():
        return "opened a pseudo-terminal: %s" % (pty.openpty(),)
    def steal():
        return "its terminal's foreground group is %d" % os.tcgetpgrp(0)
    return any_of(tty, new, steal)

result = judged(attempt)
