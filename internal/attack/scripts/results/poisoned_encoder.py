# attack: replace the functions that encode the result
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:raised outcome:exited
# naked: no the harness is written in the same interpreter

import json, marshal

# Whatever the guest does to its own side, the host must get a value or report that it
# got none.
json.dumps = lambda *a, **k: '{"escaped": true, "detail": "json.dumps was believed"}'
json.JSONEncoder.default = lambda self, o: {"escaped": True}
marshal.dumps = lambda *a: b"\xff\xff"
sys.stdout = None
result = {"escaped": False, "detail": "the host got a value"}
