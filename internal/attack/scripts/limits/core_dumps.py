# attack: find that a crash would leave a core file on the host
# class: 10
# walls: rlimit
# absent: resource
# naked: yes maybe the host may not allow any

import resource

def attempt():
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    return hard != 0 and "core files of up to %d bytes" % hard

result = judged(attempt)
