"""Runs the examples of docs/python.md."""

import doctest
import os

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")


def test_documented_examples():
    failed, tried = doctest.testfile(PAGE, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 15 and failed == 0
