# attack: use supplementary groups that came from the host
# class: 6
# walls: uid userns
# absent: os.getegid os.getgid os.getgroups
# naked: no a host process may have no groups

# Groups that a user namespace does not map appear as 65534.
def attempt():
    foreign = set(os.getgroups()) - {os.getgid(), os.getegid(), 65534}
    return foreign and "is in the groups %s" % sorted(foreign)

result = judged(attempt)
