# Runs scripts, each in its own process and from bytes, like a file; prints the names of
# those that set escaped = True.
import json
import os
import signal
import sys



def run(script, writer):
    signal.alarm(10)
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in 0, 1, 2:
        os.dup2(silence, stream)
    module = sys.modules["__main__"] = type(sys)("__main__")
    for name in "__loader__", "__spec__", "__package__":
        del module.__dict__[name]  # None would hide the name in builtins
    try:
        exec(compile(script.encode(), "<script>", "exec", 0, True), module.__dict__)
    except BaseException:
        pass
    os.write(writer, b"1" if module.__dict__.get("escaped") is True else b"0")
    os._exit(0)


def works(script):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        run(script, writer)
    os.close(writer)
    answer = os.read(reader, 1)
    os.close(reader)
    os.waitpid(child, 0)
    return answer == b"1"


print(json.dumps([name for name, script in json.load(sys.stdin).items() if works(script)]))
