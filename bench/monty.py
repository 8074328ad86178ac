"""Monty, Pydantic's interpreter of a part of Python, in a pool of its own workers. The clock
is here: nothing of what lies between us and the bench is counted.

The first line is for hooks, which Monty does not have. Each further one is [measure], and is
answered with [seconds of each call, the last value].
"""
import json
import sys
import time

from pydantic_monty import Monty

INPUTS = {
    "warm": ('context["a"] + 1', {"a": 41}),
    "data": ("len(context)", "x" * int(sys.argv[1])),
}


def call(pool, script, context):
    """A run in a session of its own, as each run of cordon is."""
    with pool.checkout() as session:
        return session.feed_run(script, inputs={"context": context})


def main():
    sys.stdin.readline()
    with Monty() as pool:
        for line in sys.stdin:
            (measure,) = json.loads(line)
            begin = time.perf_counter()
            value = call(pool, *INPUTS[measure])
            seconds = time.perf_counter() - begin
            print(json.dumps([[seconds], value]), flush=True)


main()
