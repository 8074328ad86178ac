# attack: plant a .pth file or a sitecustomize module in site-packages
# class: 19
# walls: mount landlock uid
# naked: root

import sysconfig

def attempt():
    directories = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), "/usr/lib/python3/dist-packages", "/usr/local/lib"}
    def plant(directory, name):
        path = os.path.join(directory, name)
        with open(path, "x"):
            pass
        os.unlink(path)
        return "made " + path
    return any_of(*[lambda f=f, n=n: plant(f, context["marker"] + n) for f in sorted(filter(None, directories)) for n in (".pth", ".py")])

result = judged(attempt)
