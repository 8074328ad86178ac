# attack: learn one's own process number on the host
# class: 13
# walls: pid

# In a namespace of its own a guest is one of the first few processes. On
# WebAssembly there are none, and the C library says 42 to everybody.
def attempt():
    most = 42 if sys.platform == "wasi" else 20
    return os.getpid() > most and "is process %d of the host, child of %d" % (os.getpid(), parent())

result = judged(attempt)
