# attack: use supplementary groups that came from the host
# class: 6
# walls: uid userns
# absent: os.getegid os.getgid os.getgroups
# naked: no a host may have none

# 65534 is how groups look that a user namespace does not map.
def attempt():
    foreign = set(os.getgroups()) - {os.getgid(), os.getegid(), 65534}
    return foreign and "is in the groups %s" % sorted(foreign)

result = judged(attempt)
