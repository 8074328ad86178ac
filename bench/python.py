"""The Python package beside what people write without it. The clock is here: nothing of
what lies between us and the bench is counted.

A request is a line of JSON, [measure, how many, seconds between two], and is answered
with the seconds of each. The first line is [script, state, config] of the hook.
"""
import json
import resource
import subprocess
import sys
import time

import cordon

PACKAGES = sys.argv[1]  # the directory with RestrictedPython, or empty

CODE = "import math\nx = 40\nprint(math.floor(x + 2.5))"

WORKER = """
import json, sys, io, contextlib
request = json.load(sys.stdin)
out = io.StringIO()
with contextlib.redirect_stdout(out):
    exec(compile(request["code"], "<code>", "exec"), {"__name__": "__main__"})
json.dump({"stdout": out.getvalue(), "return_code": 0}, sys.stdout)
"""

RESTRICTED = """
import json, sys
sys.path.append(sys.argv[1])
from RestrictedPython import compile_restricted, safe_builtins
from RestrictedPython.PrintCollector import PrintCollector
request = json.load(sys.stdin)
import math
space = {"__builtins__": dict(safe_builtins, __import__=lambda name, *_: {"math": math}[name]), "_print_": PrintCollector,
         "_getattr_": getattr}
exec(compile_restricted(request["code"] + "\\nshown = printed", "<code>", "exec"), space)
json.dump({"stdout": space["shown"], "return_code": 0}, sys.stdout)
"""


def limits():
    """As in the recipes for such sandboxes, in the child before it becomes Python."""
    resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def child(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, *arguments],
        input=json.dumps({"code": CODE}), capture_output=True, text=True, timeout=30, preexec_fn=limits, env={"PATH": ""}, cwd="/tmp",
    )
    return json.loads(done.stdout)["stdout"]


def main():
    script, state, config = json.loads(sys.stdin.readline())
    measures = {
        "execute": lambda: cordon.execute(CODE)["stdout"],
        "run": lambda: cordon.run("result = context['a'] + 1", context={"a": 41}).value,
        "hook": lambda: cordon.run_mod_hook(script, state, config),
        "subprocess": lambda: child(WORKER),
        "restricted": lambda: child(RESTRICTED, PACKAGES),
    }
    for line in sys.stdin:
        name, count, pause = json.loads(line)
        seconds, answer = [], None
        for _ in range(count):
            time.sleep(pause)
            begin = time.perf_counter()
            answer = measures[name]()
            seconds.append(time.perf_counter() - begin)
        print(json.dumps([seconds, answer], separators=(",", ":")), flush=True)


main()
