"""Walls that stand behind others: no script that the rules accept comes there, so
each is tried without them.

    python3 -I behind.py SOURCE_OF_THE_RULES
"""
import os
import sys
import types


def load(path, modules):
    with open(path, encoding="utf-8") as file:
        source = file.read()
    space = {"__name__": "cordon"}
    exec(compile(source, "<cordon>", "exec"), space)
    return space, space["Language"](modules, [])


STANDARD = """math cmath decimal fractions statistics json re string textwrap unicodedata difflib datetime calendar
    collections itertools functools operator enum dataclasses typing copy hashlib base64 random uuid struct pprint""".split()


def refuses(act, kind):
    try:
        act()
    except kind:
        return True
    return False


def main(path):
    # Before anything else has imported what would show the name, too.
    space, little = load(path, ["calendar"])
    script = little.compiled("import calendar\ncalendar.Calendar()._firstweekday", "<script>")
    assert refuses(lambda: exec(script, {"__builtins__": little.builtins}), space["RuleViolation"]), "an attribute that methods alone name"

    space, language = load(path, STANDARD)
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

    script = language.compiled("""
class Catch:
    def __eq__(self, other):
        return True
    __ne__ = lambda self, other: True
""", "<script>")
    names = {"__builtins__": language.builtins, "__name__": "__main__"}
    exec(script, names)
    hidden = sys.modules, vars(os), sys, os.path.join, main.__code__, os._Environ, sys.stdout
    for thing in hidden:
        assert refuses(lambda: names["Catch"]() == thing, space["RuleViolation"]), "%r came to a special method" % (thing,)
        assert refuses(lambda: names["Catch"]() != thing, space["RuleViolation"]), "%r came to a special method" % (thing,)
    for thing in 1, "x", {}, [], int, len, math.sqrt, names["Catch"], language.facade("json").dumps, language.facade("collections").Counter():
        assert names["Catch"]() == thing, "%r did not come to a special method" % (thing,)
    print("all stand")


main(sys.argv[1])
