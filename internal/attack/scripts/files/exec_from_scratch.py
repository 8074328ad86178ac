# attack: execute a program written to the scratch space, also through the dynamic loader
# class: 22
# walls: mount landlock seccomp
# needs: scratch
# absent: os.execv
# naked: yes

import glob, shutil

def attempt():
    program = os.path.join(scratch(), "program")
    shutil.copyfile(os.path.realpath(sys.executable), program)
    os.chmod(program, 0o755)
    say = ["-I", "-S", "-c", "print(%r)" % context["shout"]]
    loaders = glob.glob("/lib64/ld-linux-*") + glob.glob("/lib/ld-linux-*") + glob.glob("/lib/ld-musl-*")
    routes = [lambda: os.execv(program, [program] + say)]
    routes += [lambda l=l: os.execv(l, [l, program] + say) for l in loaders]
    return any_of(*routes)

result = judged(attempt)
