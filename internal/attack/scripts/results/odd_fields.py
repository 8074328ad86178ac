# attack: forge reports whose fields are of wrong types, missing, nested and out of range
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:out_of_result outcome:raised outcome:exited outcome:signaled outcome:out_of_memory outcome:succeeded outcome:malformed outcome:refused
# naked: no there is no channel without cordon

import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": 5}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "ok"}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "ok", "code": "0", "result": None}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "raised", "code": 1, "exception": {"type": 1}}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "checked", "code": 0, "findings": [[1]]}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "ok", "code": 2 ** 62, "result": 1}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "ok", "code": 0, "result": nested(5000)}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "ok", "code": 0, "result": None, "variables": nested(1000)}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "exit", "code": -1}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
# --- next run ---
import marshal

def nested(depth):
    value = None
    for _ in range(depth):
        value = {"x": [value]} if depth < 1500 else [value]
    return value

try:
    forge(marshal.dumps({"end": "raised", "code": 1, "exception": {"type": "X" * 9999999, "message": "", "line": -1, "traceback": ""}}, 2))
except ValueError as e:
    pass  # marshal itself takes no more
result = {"escaped": False, "detail": "a forged report"}
