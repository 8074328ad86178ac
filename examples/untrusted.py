"""What a model might send you: useful work, and things that it must not do.

make run shows it. Each attempt is caught, so that the script goes on: a wall
is an ordinary exception to the code behind it.
"""
import statistics

words = "the quick brown fox jumps over the lazy dog".split()
lengths = [len(word) for word in words]
print("mean length of a word:", round(statistics.mean(lengths), 2))


def attempt(name, act):
    try:
        act()
    except Exception as error:
        print(f"  {name:<18} blocked: {type(error).__name__}: {error}")
        return "blocked"
    print(f"  {name:<18} WENT THROUGH")
    return "went through"


def network():
    import socket

    socket.create_connection(("192.0.2.1", 80), timeout=1)


def accounts():
    with open("/etc/passwd") as file:
        names = [line.split(":")[0] for line in file]
    if "root" not in names:  # a file of cordon's own, so that libraries find a user
        raise LookupError(f"nobody there but {', '.join(names)}")


def subprocess():
    import subprocess

    subprocess.run(["id"], check=True)


def write_outside():
    with open("/usr/left-behind", "w") as file:
        file.write("x")


print("and four things that it should not do:")
result = {
    "longest": max(words, key=len),
    "attempts": {act.__name__: attempt(act.__name__, act) for act in (network, accounts, subprocess, write_outside)},
}
