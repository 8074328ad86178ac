# attack: execute a program written to the scratch space, also through the dynamic loader
# class: 22
# walls: mount landlock seccomp
# needs: scratch
# absent: os.execve
# naked: yes

import glob, shutil

def attempt():
    program = os.path.join(scratch(), "program")
    shutil.copyfile(os.path.realpath(sys.executable), program)
    os.chmod(program, 0o755)
    say = ["-s", "-S", "-c", "print(%r)" % context["shout"]]
    home = {"PYTHONHOME": sys.base_prefix} # outside /usr, it finds its library beside itself
    loaders = glob.glob("/lib64/ld-linux-*") + glob.glob("/lib/ld-linux-*") + glob.glob("/lib/ld-musl-*")
    routes = [lambda: os.execve(program, [program] + say, home)]
    routes += [lambda l=l: os.execve(l, [l, program] + say, home) for l in loaders]
    return any_of(*routes)

result = judged(attempt)
