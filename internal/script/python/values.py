"""Values that leave a guest and that marshal does not accept, or that a caller wants to see
by name.
"""
import marshal
import sys


EXACT = {type(None), bool, int, float, str}


def plain(value, where, depth=0):
    """Rebuilds subclasses of JSON's types as those types, and objects that have a JSON form as
    that form, or raises an error that says where the first other object is."""
    if value is None or value is True or value is False:
        return value
    if depth > 400:
        raise TypeError("%s is nested deeper than 400 levels, or contains itself" % (where[:60] + "…"))
    for kind in (str, int, float):
        if is_kind(value, kind):
            return text_of(value) if kind is str else kind.__pos__(value)
    if is_kind(value, dict):
        if EXACT.issuperset(map(type, dict.values(value))) and {str}.issuperset(map(type, dict.keys(value))):
            return dict(dict.items(value))
        return {
            plain_key(k, where): plain(v, "%s[%r]" % (where, plain_key(k, where)), depth + 1)
            for k, v in dict.items(value)
        }
    for kind in (list, tuple):
        if is_kind(value, kind):
            if EXACT.issuperset(map(type, kind.__iter__(value))):
                return list(kind.__iter__(value))
            return [plain(v, "%s[%d]" % (where, i), depth + 1) for i, v in enumerate(kind.__iter__(value))]
    for module, name, form in FORMS:
        kind = getattr(sys.modules.get(module), name, None)
        if is_kind(kind, type) and is_kind(value, kind):
            return plain(form(value), where, depth + 1)
    fields = getattr(type(value), "__dataclass_fields__", None)
    if is_kind(fields, dict):
        return plain({name: getattr(value, name) for name in fields_of(fields)}, where, depth + 1)
    raise TypeError(
        "%s is a %s object, which is not a JSON value (convert it to str, int, float, bool, None, list or dict)"
        % (where, text_of(_NAME(type(value))))
    )


def date_form(value):
    return None if value != value else value.isoformat()  # the NaT of pandas is a datetime


def number_form(value):
    return str(value) if value.dtype.kind in "mM" else value.item()


def array_form(value):
    if value.dtype.kind in "mM":
        value = value.astype(str)
    return without_gaps(value.tolist())


def table_form(value):
    columns = [without_gaps(value.iloc[:, i].tolist()) for i in range(value.shape[1])]
    names = [str(name) for name in value.columns]
    return [dict(zip(names, row)) for row in zip(*columns)]


def without_gaps(value):
    """Returns a list with null for missing numbers, which have no other form in JSON."""
    if is_kind(value, list):
        return [without_gaps(v) for v in value]
    return None if is_kind(value, float) and value != value or value is missing() else value


def missing():
    return getattr(sys.modules.get("pandas"), "NA", None)


# The objects of libraries that have a JSON form. docs/scripts.md lists them.
FORMS = (
    ("datetime", "datetime", date_form), ("datetime", "date", date_form), ("datetime", "time", date_form),
    ("datetime", "timedelta", lambda value: value.total_seconds()),
    ("decimal", "Decimal", str), ("uuid", "UUID", str), ("pathlib", "PurePath", str),
    ("enum", "Enum", lambda value: value.value),
    ("numpy", "generic", number_form), ("numpy", "ndarray", array_form),
    ("pandas", "DataFrame", table_form),
    ("pandas", "Series", lambda value: without_gaps(value.tolist())),
    ("pandas", "Index", lambda value: without_gaps(value.tolist())),
)


def fields_of(fields):
    """Returns the names of a dataclass's fields, without class variables. A guest can write the
    table itself."""
    return [
        text_of(name) for name, field in dict.items(fields)
        if str(getattr(field, "_field_type", "")) == "_FIELD" and not text_of(name).startswith("__")
    ]


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
