"""Runs the attempts without walls: the harness of TestAttemptsEscapeWithoutWalls.

Reads {"programs", "context", "fork"} as JSON from stdin and writes the last
program's result as JSON to descriptor 3, where cordon's channel would be.
Attempts against cordon's own functions find those of this harness: prepare and pack.
With "fork", each program runs in a child of this warm interpreter, as in a naive fork
server; without it, all run in this interpreter, as in a naive warm pool.
"""
import ctypes
import json
import os
import sys


def run(program, context):
    space = {"__name__": "__main__", "context": context, "result": None}
    exec(compile(program, "<script>", "exec"), space)
    return space["result"]


def run_forked(program, context):
    # libc's fork, as in a fork server written in C: os.fork has hooks, one of which
    # reseeds the random module.
    r, w = os.pipe()
    pid = ctypes.CDLL(None).fork()
    if pid == 0:
        os.write(w, json.dumps(run(program, context)).encode())
        os._exit(0)
    os.close(w)
    with open(r, "rb") as f:
        answer = json.loads(f.read())
    os.waitpid(pid, 0)
    return answer


def prepare():
    """Makes the interpreter warm: random is seeded before the first fork."""
    import random, tempfile, uuid

    next(tempfile._get_candidate_names())


def pack(result, dumps=json.dumps):
    return dumps(result).encode()


def main():
    prepare()
    packed = pack
    request = json.load(sys.stdin)
    context, result = request["context"], None
    for program in request["programs"]:
        result = (run_forked if request["fork"] else run)(program, dict(context))
        context["previous"] = result
    os.write(3, packed(result))


main()
