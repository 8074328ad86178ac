"""Runs in the guest: one cell of a notebook, with the state of earlier cells.

It is sent as a script, with `context` in its globals, and is never imported.
"""
import ast
import base64
import copyreg
import importlib
import pickle
import sys
import traceback
import types


class FinalAnswer(BaseException):
    """Ends a cell with its final answer."""


def final_answer(answer=None):
    raise FinalAnswer(answer)


# A module is pickled by name: an import may be inside a function, which is not a definition.
copyreg.pickle(types.ModuleType, lambda module: (importlib.import_module, (module.__name__,)))


def packed(value):
    return base64.b64encode(pickle.dumps(value, 4)).decode()


def restore(space):
    """Restores the definitions of earlier cells, and then their values."""
    for source in context["definitions"]:
        try:
            exec(compile(source, "<earlier cell>", "exec"), space)
        except Exception:
            pass  # it failed before too
    for name, data in [*context["variables"].items(), *context["state"].items()]:
        try:
            space[name] = pickle.loads(base64.b64decode(data))
        except Exception:
            print("(%s is lost: it cannot be unpickled in this cell)" % name)


def run_cell(code, space):
    """Runs the cell and returns the value of its last line, if that is an expression."""
    tree = ast.parse(code, "<cell>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), space)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), space)


def definitions(code):
    """Returns the sources of definitions, which later cells run again."""
    try:
        body = ast.parse(code).body
    except Exception:
        return []
    sources = []
    for node in body:
        defines = isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if defines or (isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)):
            if getattr(node, "decorator_list", None):
                node.lineno, node.col_offset = node.decorator_list[0].lineno, 0
            sources.append(ast.get_source_segment(code, node))
    return sources


def leave(space, before):
    """Returns the variables that can be kept for the next cell."""
    state = {}
    for name, value in space.items():
        if name in before or name.startswith("__"):
            continue
        try:
            state[name] = packed(value)
        except Exception:
            pass  # a function or class, which is defined again, or a value that cannot be kept
    return state


def shown(value):
    try:
        return repr(value)[:10000]
    except Exception:
        return "<%s that cannot be shown>" % type(value).__name__


def answer():
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    space = main.__dict__
    space["final_answer"] = final_answer
    exec(compile(context["tools"], "<tools>", "exec"), space)
    before = set(space)
    restore(space)
    final, error, value = False, None, None
    try:
        value = run_cell(context["code"], space)
    except FinalAnswer as end:
        final, value = True, end.args[0]
    except BaseException as problem:
        if isinstance(problem, MemoryError):
            raise
        lines = traceback.format_exception(type(problem), problem, problem.__traceback__)
        error = "".join(line for line in lines if 'File "<notebook>"' not in line)
    try:
        output = packed(value)
    except Exception:
        output = None
    return {
        "final": final,
        "error": error,
        "output": output,
        "shown": shown(value),
        "state": leave(space, before),
        "definitions": definitions(context["code"]),
    }


result = answer()
