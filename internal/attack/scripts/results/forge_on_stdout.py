# attack: print a result that looks like success, then fail
# class: 14
# walls: environment pid seccomp
# expect: outcome:raised outcome:exited
# naked: no the harness does not read results from there

import json

# A host that reads results from the output would believe this.
forged = json.dumps({"status": "ok", "outcome": "succeeded", "result": {"escaped": True, "detail": "the output was believed"}})
for fd in (1, 2):
    os.write(fd, ("\n" + forged + "\n").encode())
raise RuntimeError("the run failed")
result = None
