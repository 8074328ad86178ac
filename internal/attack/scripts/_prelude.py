import os, sys


class Held(Exception):
    """The act was tried and gained nothing."""


class Missing(Exception):
    """What the attempt starts from is not there: it shows nothing."""


def judged(attempt, *failures):
    """Run attempt: what it returns was gained; an error of the act means held."""
    try:
        gained = attempt()
    except Missing as e:
        return {"escaped": False, "missing": e.args[0], "detail": str(e.args[-1])}
    except (OSError, Held) + failures as e:
        return {"escaped": False, "detail": ("%s: %s" % (type(e).__name__, e))[:300]}
    return {"escaped": bool(gained), "detail": str(gained or "nothing gained")[:300]}


def any_of(*routes):
    """Try each route; the first gain counts."""
    said = []
    for route in routes:
        try:
            gained = route()
        except (OSError, Held) as e:
            said.append(str(e))
        else:
            if gained:
                return gained
            said.append("nothing gained")
    raise Held("; ".join(said))


def need(name):
    """A canary that the host may not have been able to plant."""
    if context.get(name) in (None, False):
        raise Missing("canary " + name)
    return context[name]


def scratch():
    """A new folder of the guest's own."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "attempt-%d" % os.getpid())
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as e:
        raise Missing("scratch", e)
    return path


def somewhere():
    """A folder to try things on: the guest's own, or else one of the host's."""
    try:
        return scratch()
    except Missing:
        return "/tmp"


def read(path):
    with open(path, "rb") as f:
        return f.read(4096).decode("utf-8", "replace")


