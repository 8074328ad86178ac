"""Runs in the guest: takes a function and its arguments, and returns its result.

It is sent as a script, with `context` in its globals, and is never imported.
"""
import base64
import importlib.machinery
import importlib.util
import marshal
import os
import pickle
import sys
import types


class Sent:
    """Finds the modules whose source was sent with the call."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        if name not in self.modules:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=self.modules[name]["package"])

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        fill(module, self.modules[module.__name__])

    def get_source(self, name):
        return self.modules[name]["source"]


def fill(module, sent):
    module.__file__ = sent["file"]
    exec(compile(sent["source"], sent["file"], "exec"), module.__dict__)


def main_module(sent):
    """Runs the caller's main script as multiprocessing does: not as the main program.

    Returns the exception that stopped it, if any: a script that calls the sandbox at import
    time reaches that line here too, and fails. What it defined before is available."""
    module = types.ModuleType("__mp_main__")
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    if sent is None:
        return None
    module.__package__ = sent["parent"]
    try:
        fill(module, sent)
    except MemoryError:
        raise
    except BaseException as stopped:
        return stopped


def functions(sent):
    """Makes the functions that were sent by code. All are made before any is completed, because
    they may call each other."""
    made = []
    for one in sent:
        space = {"__builtins__": __builtins__, "__name__": "__main__"}
        made.append(types.FunctionType(marshal.loads(base64.b64decode(one["code"])), space, one["name"]))
    for it, one in zip(made, sent):
        it.__defaults__, it.__kwdefaults__ = unpacked(one["defaults"])
        for name, (kind, value) in one["globals"].items():
            if kind == "module":
                __import__(value)
                it.__globals__[name] = sys.modules[value]
            elif kind == "function":
                it.__globals__[name] = made[value]
            else:
                it.__globals__[name] = unpacked(value)
    return made


def unpacked(text):
    return pickle.loads(base64.b64decode(text))


def enter(directory):
    try:
        os.chdir(directory)
    except OSError as problem:
        raise PermissionError(
            "working_directory %s cannot be read by the guest (%s): grant it with read: in the policy that CORDON_POLICY names"
            % (directory, problem.strerror)
        ) from None


def answer():
    if context["cwd"]:
        enter(context["cwd"])
    sys.meta_path.insert(0, Sent(context["modules"]))
    stopped = main_module(context["main"])
    try:
        if context["functions"]:
            call, arguments = functions(context["functions"])[0], unpacked(context["payload"])
        else:
            call, arguments = unpacked(context["payload"])
        value = call(**arguments)
    except (AttributeError, NameError) as missing:
        if stopped is None:
            raise
        raise missing from stopped
    return base64.b64encode(pickle.dumps(value, 4)).decode()


result = answer()
