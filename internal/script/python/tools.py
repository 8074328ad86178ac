"""Tools: functions of the host that a script may call by their names.

    tools.search("rain", limit=3)

A call goes to the host as JSON text, through the function ask, and the answer comes back
as text: {"ok": value} or {"error": {"type": …, "message": …}}.
"""
import json.encoder
import keyword


class ToolError(Exception):
    """A tool failed. The text says which one and why; type is the host's name for the kind
    of failure."""

    # For the language rules and tracebacks, this is a class of the script.
    __module__ = "__main__"

    def __init__(self, message="", tool="", type=""):
        super().__init__(message)
        self.tool, self.type = tool, type


def json_text():
    """Returns functions that write and read JSON. A script may replace anything in the json
    module, but the C functions do not look there again."""
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
    """Returns the value if JSON can express it, or raises an exception that says where it
    cannot."""
    value = plain(value, where)
    if contains_nan(value):
        raise ValueError("%s contains a number that is not finite, which JSON cannot express" % where)
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
    """Makes the object that a script knows as tools."""
    for name in names:
        if not name.isidentifier() or name.startswith("_") or keyword.iskeyword(name) or name == "Error":
            raise ValueError("%r cannot be the name of a tool" % name)

    class tools:
        # The guards reserve some public names of library objects (register, evaluate).
        # Tools may have these names.
        __module__ = "__main__"
        Error = ToolError

        def __getattr__(self, name):
            raise AttributeError("there is no tool %s; there are: %s" % (name, ", ".join(names)))

        def __repr__(self):
            return "<tools: %s>" % ", ".join(names)

    made = tools()
    made.__dict__.update((name, tool(name, ask)) for name in names)
    return made
