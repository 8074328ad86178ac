# attack: set the machine's clock
# class: 1
# walls: seccomp capabilities
# absent: time.clock_settime
# naked: no it would set the clock

import time

def attempt():
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    return "set the clock"

result = judged(attempt)
