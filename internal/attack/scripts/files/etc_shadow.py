# attack: read the host's password hashes in /etc/shadow and its backups
# class: 20
# walls: mount landlock uid
# naked: root

def attempt():
    def route(path):
        return lambda: "read %d characters of %s" % (len(read(path)), path)
    return any_of(route("/etc/shadow"), route("/etc/shadow-"), route("/etc/gshadow"), route("/etc/security/opasswd"))

result = judged(attempt)
