# attack: send a payload that announces more items than there are bytes
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output
# naked: no there is no channel without cordon

payload = b"{" + b"u\x03\x00\x00\x00end" + b"u\x02\x00\x00\x00ok" + b"u\x05\x00\x00\x00value" + b"[\xff\xff\xff\x7f" + b"l\xff\xff\xff\x7f" + b"0"
forge(payload)
result = {"escaped": False, "detail": "nothing blew up"}
