# attack: leave a file in the host's /dev/shm
# class: 8
# walls: mount landlock

def attempt():
    with open("/dev/shm/" + context["marker"], "w") as f:
        f.write("was here")
    return "made /dev/shm/" + context["marker"]

result = judged(attempt)
