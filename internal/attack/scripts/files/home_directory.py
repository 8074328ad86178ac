# attack: read dotfiles and keys in the home directories of the host
# class: 20
# walls: mount landlock uid
# naked: root maybe a fresh host may have no dotfiles

import glob

# The interpreter may be below a home, so seeing the directory is not a gain; reading a
# file that is not part of an installation is.
def attempt():
    homes = [context.get("home", "/root"), "/root"] + glob.glob("/home/*")
    names = (".bash_history", ".bashrc", ".profile", ".ssh/id_rsa", ".ssh/authorized_keys", ".netrc", ".gitconfig")
    routes = [os.path.join(home, name) for home in homes for name in names]
    return any_of(*[lambda path=path: "read %d characters of %s" % (len(read(path)), path) for path in routes])

result = judged(attempt)
