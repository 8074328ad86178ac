# attack: learn the guest's process number on the host
# class: 13
# walls: pid

# In a new namespace a guest is one of the first few processes. WebAssembly has no
# processes, and its C library always answers 42.
def attempt():
    most = 42 if sys.platform == "wasi" else 20
    return os.getpid() > most and "is process %d of the host, child of %d" % (os.getpid(), parent())

result = judged(attempt)
