"""Walls that stand behind others: no script that the rules accept comes there, so
each is tried without them.

    python3 -I behind.py PATH_TO_PARTS_DIR
"""
import os
import sys
import types


def load(parts, modules):
    source = "".join(open(os.path.join(parts, name), encoding="utf-8").read() for name in PARTS)
    space = {"__name__": "cordon"}
    exec(compile(source, "<cordon>", "exec"), space)
    return space, space["Language"](modules, [])


PARTS = "rules.py", "rewrite.py", "library.py", "guards.py"
STANDARD = """math cmath decimal fractions statistics json re string textwrap unicodedata difflib datetime calendar
    collections itertools functools operator enum dataclasses typing copy hashlib base64 random uuid struct pprint""".split()


def refuses(act, kind):
    try:
        act()
    except kind:
        return True
    return False


def main(parts):
    # Before anything else has imported what would show the name, too.
    space, little = load(parts, ["pprint"])
    script = little.compiled("import pprint\npprint.PrettyPrinter()._stream", "<script>")
    assert refuses(lambda: exec(script, {"__builtins__": little.builtins}), space["RuleViolation"]), "an attribute that methods alone name"

    space, language = load(parts, STANDARD)
    language.load(language.modules)
    for name in "os", "sys", "json.decoder", "builtins":
        assert refuses(lambda: language.importer(name), ImportError), name + " is imported"
        assert refuses(lambda: language.importer(name, fromlist=("x",)), ImportError), name + " is imported"
    for name in "time", "_strptime", "warnings", "traceback":  # which the interpreter imports for itself
        assert not vars(language.importer(name)), name + " is shown"

    math = language.facade("math")
    assert refuses(lambda: setattr(math, "pi", 3), space["RuleViolation"]), "a facade is changed"
    assert refuses(lambda: delattr(math, "pi"), space["RuleViolation"]), "a facade is changed"

    for name, facade in language.facades.items():
        assert not hasattr(facade, "__name__"), name + " knows its name"
        for shown, value in vars(facade).items():
            where = "%s.%s" % (name, shown)
            assert not shown.startswith("_"), where
            assert not isinstance(value, (types.ModuleType, list, dict, set)), where
            assert not (isinstance(value, type) and issubclass(value, type)), where
    print("all stand")


main(sys.argv[1])
