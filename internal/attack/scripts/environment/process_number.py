# attack: learn one's own process number on the host
# class: 13
# walls: pid

# In a namespace of its own a guest is one of the first few processes.
def attempt():
    return os.getpid() > 20 and "is process %d of the host, child of %d" % (os.getpid(), os.getppid())

result = judged(attempt)
