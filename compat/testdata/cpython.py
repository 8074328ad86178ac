"""Runs one module of CPython's own tests in this very process.

regrtest would start a process for each module and write beside it; unittest's
loader needs neither.
"""
import io
import re
import sys
import unittest

from test import support

# Tests find their data and themselves by the module that started them.
sys.argv = ["python"]
support.verbose = False
support.use_resources = []  # no network, no display, nothing that takes minutes
# CPython knows platforms without processes; its tests say which of them need
# some, and skip those.
support.has_subprocess_support = support.has_fork_support = False


def name_of(test):
    """The test's name within its module, without its subtest: subtests carry
    values that differ from machine to machine."""
    setup = re.fullmatch(r"(\w+) \((.*)\)", test.id())
    name = "%s.%s" % (setup[2], setup[1]) if setup else test.id().split(" ")[0]
    return name[len(module) + 1:] if name.startswith(module + ".") else name


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


module = "test." + context["module"]
left_out = set(context["left_out"])
suite = unittest.TestSuite()
suite.addTests(
    test for test in flat(unittest.defaultTestLoader.loadTestsFromName(module))
    if name_of(test) not in left_out and name_of(test).split(".")[0] + ".*" not in left_out
)
outcome = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
failed = {}
for test, text in outcome.errors + outcome.failures:
    failed.setdefault(name_of(test), text.strip().splitlines()[-1][:300])
for test in outcome.unexpectedSuccesses:
    failed.setdefault(name_of(test), "unexpected success")
result = {"ran": outcome.testsRun, "skipped": len(outcome.skipped), "failed": failed}
