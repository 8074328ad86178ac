# attack: leave a file in the host's /dev/shm
# class: 8
# walls: mount landlock

# A guest may have a private /dev/shm. Only the host can tell, so this reports no gain.
def attempt():
    with open("/dev/shm/" + context["marker"], "w") as f:
        f.write("was here")

result = judged(attempt)
