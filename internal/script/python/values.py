"""Values that leave a guest and that marshal does not accept, or that a caller wants to see
by name.
"""
import marshal
import sys


def plain(value, where, depth=0):
    """Rebuilds subclasses of JSON's types as those types, or raises an error that says
    where the first other object is."""
    if value is None or value is True or value is False:
        return value
    if depth > 400:
        raise TypeError("%s is nested deeper than 400 levels, or contains itself" % (where[:60] + "…"))
    for kind in (str, int, float):
        if is_kind(value, kind):
            return text_of(value) if kind is str else kind.__pos__(value)
    if is_kind(value, dict):
        return {
            plain_key(k, where): plain(v, "%s[%r]" % (where, plain_key(k, where)), depth + 1)
            for k, v in dict.items(value)
        }
    for kind in (list, tuple):
        if is_kind(value, kind):
            return [plain(v, "%s[%d]" % (where, i), depth + 1) for i, v in enumerate(kind.__iter__(value))]
    raise TypeError(
        "%s is a %s object, which is not a JSON value (convert it to str, int, float, bool, None, list or dict)"
        % (where, text_of(_NAME(type(value))))
    )


def plain_key(key, where):
    if key is None or any(is_kind(key, kind) for kind in (str, int, float)):
        return plain(key, where)
    raise TypeError("%s has a key that is a %s object; JSON keys are strings" % (where, text_of(_NAME(type(key)))))


def variables(names, space):
    found = {}
    for name in names:
        if name not in space:
            continue
        value = space[name]
        try:
            found[name] = plain(value, name)
            marshal.dumps(found[name], 2)
            if contains_nan(found[name]):
                raise ValueError
        except BaseException:
            found[name] = {"$type": text_of(_NAME(type(value))), "$repr": bounded(repr, value, 1000)}
    return found


def contains_nan(value):
    if isinstance(value, float):
        return value != value or value in (float("inf"), float("-inf"))
    if isinstance(value, dict):
        return any(map(contains_nan, value.values())) or any(map(contains_nan, value))
    return isinstance(value, list) and any(map(contains_nan, value))


def rebuild(report):
    """Rebuilds the result from JSON's types, or removes it and returns the reason."""
    result = report.pop("result", None)
    try:
        report["result"] = plain(result, "result")
        return ""
    except MemoryError:
        raise
    except RecursionError:
        return "result is nested too deeply, or contains itself"
    except TypeError as error:
        return bounded(str, error, 1000)
    except BaseException as error:
        # Objects of the guest may raise anything when they are inspected.
        return "result cannot be read: %s" % bounded(str, error, 900)
