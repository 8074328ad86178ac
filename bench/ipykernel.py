"""Steps as a notebook runs them: ipykernel, asked through jupyter_client.

The first line of input is not for us. Each further one is [how many times, a step], and is
answered with [seconds of each time, the last status].
"""
import json
import sys
import time

from jupyter_client.manager import start_new_kernel


def main():
    sys.stdin.readline()
    manager, client = start_new_kernel()
    try:
        for line in sys.stdin:
            count, code = json.loads(line)
            seconds = []
            for _ in range(count):
                begin = time.perf_counter()
                reply = client.execute(code, reply=True, timeout=30)
                seconds.append(time.perf_counter() - begin)
            print(json.dumps([seconds, reply["content"]["status"]], separators=(",", ":")), flush=True)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


main()
