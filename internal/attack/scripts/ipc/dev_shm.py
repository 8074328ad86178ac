# attack: leave a file in the host's /dev/shm
# class: 8
# walls: mount landlock

# A guest may have a /dev/shm of its own: only the host can say whose it was,
# so that nothing is claimed here.
def attempt():
    with open("/dev/shm/" + context["marker"], "w") as f:
        f.write("was here")

result = judged(attempt)
