# attack: forge what the host decides: outcome, violations, enforcement
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:raised outcome:exited
# naked: no there is no channel without cordon

import marshal

value = {"escaped": False, "detail": "the host kept its own findings"}
payload = marshal.dumps({"end": "ok", "code": 0, "value": value, "outcome": "succeeded", "status": "ok", "violations": [{"wall": "none"}],
                         "enforcement": {"tier": "gvisor", "walls": {}}, "usage": {"wall_time": "-1s"}, "id": "other"}, 2)
forge(payload)
result = None
