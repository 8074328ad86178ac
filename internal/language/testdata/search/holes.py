"""Holes of the kinds that the search is for, to see that it is not blind."""
import sys
import types

HOLES = {}


def hole(function):
    HOLES[function.__name__] = function
    return function


def place(name):
    """Where a script finds a hole."""
    return "math.%s" % name


def plant(language):
    for name, function in HOLES.items():
        vars(language.facades["math"])[name] = function


@hole
def hands_over_a_class(thing):
    if type(thing) is not list:
        thing.append(types.DynamicClassAttribute)


@hole
def hands_over_a_namespace(thing):
    if type(thing) is not dict:
        thing.update(sys.modules["math"].__dict__)


@hole
def gives_a_function(thing):
    return types.resolve_bases if type(thing.name) is str else None


@hole
def executes_a_name(thing):
    if type(thing.name) is str:
        exec("def made(%s): pass" % thing.name, {})


@hole
def keeps_a_text(thing):
    if isinstance(thing, str) and type(thing) is not str:
        sys.modules["string"].Template.delimiter = thing
