# attack: leave a setuid program in the scratch space
# class: 15
# walls: mount no_new_privs uid
# needs: scratch
# absent: os.ST_NOSUID os.statvfs
# naked: root

import shutil

# The bit may be set on the guest's own file. It is a gain only if it would work: on a
# file of root, on a file system that honors it.
def attempt():
    program = os.path.join(scratch(), "program")
    shutil.copyfile(os.path.realpath(sys.executable), program)
    os.chmod(program, 0o4755)
    honoured = not os.statvfs(program).f_flag & os.ST_NOSUID
    info = os.stat(program)
    return honoured and info.st_mode & 0o4000 and info.st_uid == 0 and "left a setuid-root program"

result = judged(attempt)
