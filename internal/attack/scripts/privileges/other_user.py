# attack: become another unprivileged user
# class: 6
# walls: capabilities seccomp userns
# absent: os.getuid os.setresuid
# naked: root

def attempt():
    me = os.getuid()
    def become(uid):
        def route():
            os.setresuid(uid, uid, uid)
            return os.getuid() != me and "is now user %d" % uid
        return route
    return any_of(*[become(u) for u in (1, 1000, 65534, me + 1) if u != me])

result = judged(attempt)
