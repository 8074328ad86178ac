"""Tools: functions of the host that a script may call by their names.

    tools.search("rain", limit=3)

A call goes to the host as JSON text, through a function that this is given, and the
answer comes back as text: {"ok": value}, or {"error": {"type": …, "message": …}}.
"""
import json.encoder
import keyword


class ToolError(Exception):
    """A tool has failed. The text says which, and why; type is the host's word for
    the kind of failure."""

    # A class of the script's own, as far as the language rules and a traceback
    # can tell.
    __module__ = "__main__"

    def __init__(self, message="", tool="", type=""):
        super().__init__(message)
        self.tool, self.type = tool, type


def json_text():
    """Gives what writes JSON and what reads it. A script may put what it likes into
    the module json: the parts that are written in C do not look there again."""
    if json.encoder.c_make_encoder is None:
        write = json.encoder.JSONEncoder(allow_nan=False).encode
    else:
        chunks = json.encoder.c_make_encoder(
            None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, False)

        def write(value):
            return "".join(chunks(value, 0))

    scan = json.JSONDecoder().scan_once

    def read(text):
        return scan(text, 0)[0]

    return write, read


WRITE_JSON, READ_JSON = json_text()


def json_value(value, where):
    """The value if JSON has words for it, or an exception that says where it has
    none."""
    value = plain(value, where)
    if contains_nan(value):
        raise ValueError("%s holds a number that is not finite, for which JSON has no word" % where)
    return value


def tool(name, ask):
    def call(*args, **kwargs):
        question = {
            "tool": name,
            "args": json_value(args, "tools.%s: args" % name),
            "kwargs": json_value(kwargs, "tools.%s: kwargs" % name),
        }
        answer = READ_JSON(ask(WRITE_JSON(question).encode()).decode())
        if "error" in answer:
            kind, message = answer["error"]["type"], answer["error"]["message"]
            raise ToolError("tool %s: %s" % (name, ": ".join(filter(None, (kind, message)))), name, kind)
        return answer["ok"]

    call.__name__ = call.__qualname__ = name
    return call


def make_tools(names, ask):
    """The object that a script knows as tools."""
    for name in names:
        if not name.isidentifier() or name.startswith("_") or keyword.iskeyword(name) or name == "Error":
            raise ValueError("%r cannot be the name of a tool" % name)

    class tools:
        # The guards keep some public names of the library's objects from scripts
        # (register, evaluate): this is none of them.
        __module__ = "__main__"
        Error = ToolError

        def __getattr__(self, name):
            raise AttributeError("there is no tool %s; there are: %s" % (name, ", ".join(names)))

        def __repr__(self):
            return "<tools: %s>" % ", ".join(names)

    made = tools()
    made.__dict__.update((name, tool(name, ask)) for name in names)
    return made
