# attack: send a payload that breaks its reader: depth, sizes, code objects, references
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output
# naked: no there is no channel without cordon

# 200,000 nested lists; behind them the opening of a code object.
payload = b"{" + b"u\x05\x00\x00\x00value" + b"[\x01\x00\x00\x00" * 200000 + b"c" + b"\xff" * 64
forge(payload)
result = {"escaped": False, "detail": "nothing blew up"}
