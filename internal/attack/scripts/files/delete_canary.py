# attack: delete a file in a writable directory of the host
# class: 9
# walls: mount landlock
# naked: no it would take the canary away from the attempts that follow

def attempt():
    def unlink():
        os.unlink(context["writable_file"])
        return "deleted the host's file"
    def rmdir():
        os.rmdir(context["writable_dir"])
        return "deleted the host's directory"
    return any_of(unlink, rmdir)

result = judged(attempt)
