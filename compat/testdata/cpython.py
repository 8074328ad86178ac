"""Runs one module of CPython's own tests in this process.

regrtest would start a process for each module and write next to it; unittest does neither.
"""
import importlib
import io
import re
import sys
import unittest

if context["path"]:
    sys.path.insert(0, context["path"])
from test import support
from test.support import socket_helper

# Some tests look for their data next to the program that started them.
sys.argv = ["python"]
support.verbose = False
support.use_resources = []  # no network, no display, nothing that takes minutes
# CPython knows platforms without processes; its tests say which of them need
# some, and skip those.
support.has_subprocess_support = support.has_fork_support = False

# Without a network, asyncio does all but that.
support.has_socket_support = support.has_socket_support or "async" in context["module"]

# Checked at import, where a refusal would fail the whole module.
socket_helper._bind_nix_socket_error = PermissionError("no sockets in here")

module = "test." + context["module"]
left_out = context["left_out"]
result = {"ran": 0, "skipped": 0, "failed": {}}


def name_of(test):
    """Returns the test's name in its module, without the subtest, whose values differ
    between machines."""
    fixture = re.fullmatch(r"(\w+) \((.*)\)", test.id())
    name = "%s.%s" % (fixture[2], fixture[1]) if fixture else test.id().split(" ")[0]
    return name[len(module) + 1:] if name.startswith(module + ".") else name


def wanted(name):
    """Whether a name is not on the list, neither by itself nor by a Class.*"""
    return not any(name == out or out.endswith(".*") and name.startswith(out[:-1]) for out in left_out)


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def run(suite):
    suite = unittest.TestSuite(test for test in flat(suite) if wanted(name_of(test)))
    outcome = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
    result["ran"] += outcome.testsRun
    result["skipped"] += len(outcome.skipped)
    for test, text in outcome.errors + outcome.failures:
        result["failed"].setdefault(name_of(test), text.strip().splitlines()[-1][:300])
    for test in outcome.unexpectedSuccesses:
        result["failed"].setdefault(name_of(test), "unexpected success")


# Modules that choose their tests by themselves end here, too.
support._run_suite = run
try:
    choose = getattr(importlib.import_module(module), "test_main", None)
    if choose is None:
        run(unittest.defaultTestLoader.loadTestsFromName(module))
    else:
        choose()
except Exception as reason:
    result["failed"]["(import)"] = "%s: %s" % (type(reason).__name__, reason)
