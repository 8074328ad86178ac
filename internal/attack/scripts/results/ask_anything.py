# attack: make the calls to the host that only cordon's own code makes, with valid and invalid data
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:out_of_result outcome:raised outcome:exited outcome:signaled outcome:out_of_memory outcome:succeeded outcome:denied
# naked: no there is no channel without cordon

import json, marshal

# The calls that cordon makes at its start, unknown tools, and invalid calls. On other
# tiers they go to the result's channel.
QUESTIONS = [
    b"", b"boot", b"boot\0", b"code", b"code" + marshal.dumps(compile("1", "x", "eval")), b"serve", b"\xff" * 1000, b"null", b"[]", b"{}", b"5",
    b"{" * 100000, b"[" * 1000000, b'{"tool":' * 20000, json.dumps({"tool": None}).encode(), json.dumps({"tool": "open", "args": ["/etc/passwd"]}).encode(),
    json.dumps({"tool": "", "args": None, "kwargs": 5}).encode(), json.dumps({"tool": "x" * 1000000}).encode(), b'{"tool": "x", "tool": "y"}',
    b'"' + b"\\u0000" * 100000 + b'"', b" " * (8 << 20), b"1e999999999", b'{"tool":"\xed\xa0\x80"}',
]

def attempt():
    if sys.platform != "wasi":
        for question in QUESTIONS:
            write_channel(question)
        return None
    host = own_space()["_cordon"]
    def asked(question):
        answer = host.ask(question)
        try:
            marshal.loads(answer)
        except (ValueError, EOFError, TypeError):
            pass
        else:
            return "%r is answered with what only cordon may learn: %r" % (question[:20], answer[:80])
        return "error" not in json.loads(answer) and "%r is answered: %r" % (question[:20], answer[:80])
    def serve():
        try:
            host.serve(lambda frame: b"")
        except RuntimeError as e:
            raise Held(str(e))
        return "replaced cordon's own code"
    def wrong(thing):
        try:
            return "answers %r" % host.ask(thing)
        except (TypeError, BufferError) as e:
            raise Held(str(e))
    routes = [lambda q=q: asked(q) for q in QUESTIONS] + [lambda t=t: wrong(t) for t in ("text", None, 5, [], memoryview(b"abcd")[::2])]
    return any_of(serve, *routes)

result = judged(attempt)
