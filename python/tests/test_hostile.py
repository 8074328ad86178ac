"""Tests hostile pickles that are sent from inside the guest."""

import os
import pickle
import pickletools
import struct
import time

import pytest
import toolbox.lazy  # noqa: F401 - loaded, for a guest to ask for
from toolbox import shapes, tools

from cordon import SandboxConfig, SubprocessSandboxBackend, _plain


@pytest.fixture(scope="module")
def backend():
    return SubprocessSandboxBackend(SandboxConfig(timeout=20))


class Reduces:
    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


def short(text):
    return b"\x8c" + bytes([len(text)]) + text.encode()


def name(module, attribute):
    return short(module) + short(attribute) + b"\x93"


MARKER = "/tmp/cordon-hostile-%d" % os.getpid()
P = b"\x80\x04"



def doubled(times):
    """Pickles a tuple that holds the same tuple twice, and so on: few bytes, but walking it never
    ends. The last tuple has the index `times` in the memo."""
    return b"](" + b")\x94" + b"".join((b"h" + bytes([i])) * 2 + b"\x86\x94" for i in range(times)) + b"e"


def doubled_path(times):
    """The same with a dataclass, which comes first in the memo."""
    path = b"h\x00)\x81}(" + short("tags") + b"N" + short("points") + b"%sub\x94"
    return b"](" + path.replace(b"h\x00", name("toolbox.shapes", "Path") + b"\x94", 1) % b"N" + b"".join(
        path % ((b"h" + bytes([i])) * 2 + b"\x86") for i in range(1, times)) + b"e"


def long(size):
    return b"\x8b" + struct.pack("<I", size) + b"\x5a" * size


HOSTILE = {
    "calls os.system": pickle.dumps(Reduces(os.system, (f"touch {MARKER}",)), 4),
    "calls eval": pickle.dumps(Reduces(eval, (f"open({MARKER!r}, 'w')",)), 4),
    "calls open": pickle.dumps([Reduces(open, (MARKER, "w"))], 4),
    "calls getattr": pickle.dumps(Reduces(getattr, ("x", "upper")), 4),
    "calls getattr on a class": P + name("builtins", "getattr") + name("toolbox.shapes", "Point") + short("__init__") + b"\x86R.",
    "calls type": pickle.dumps(Reduces(type, ("A", (), {})), 4),
    "protocol 0": pickle.dumps(Reduces(os.system, (f"touch {MARKER}",)), 0),
    "protocol 2": pickle.dumps(Reduces(os.system, (f"touch {MARKER}",)), 2),
    "INST": b"(S'touch " + MARKER.encode() + b"'\nios\nsystem\n.",
    "OBJ": b"(cos\nsystem\nS'touch x'\no.",
    "GLOBAL": b"cos\nsystem\n.",
    "a module by a dotted name": P + name("toolbox.tools", "math.floor") + b".",
    "a dotted name through os": P + name("toolbox.tools", "math.__loader__") + b".",
    "a function of the caller's": P + name("toolbox.tools", "scale") + b"K\x01\x85R.",
    "a class of the caller's": P + name("toolbox.shapes", "NoData") + b")\x81.",
    "a class as a value": P + name("toolbox.shapes", "Point") + b".",
    "a maker as a value": P + b"]" + name("datetime", "date") + b"a.",
    "a module that is not loaded": P + name("antigravity", "fly") + b".",
    "a dataclass is called": P + name("toolbox.shapes", "Point") + b"K\x01K\x02\x86R.",
    "a dataclass with arguments": P + name("toolbox.shapes", "Point") + b"K\x01K\x02\x86\x81.",
    "a dataclass without its fields": P + name("toolbox.shapes", "Point") + b")\x81.",
    "a dataclass with half of its fields": P + name("toolbox.shapes", "Point") + b")\x81}" + short("x") + b"K\x01sb.",
    "a dataclass with a field more": P + name("toolbox.shapes", "Empty") + b")\x81}" + short("__class__") + b"K\x01sb.",
    "a dataclass with __class__": P + name("toolbox.shapes", "Point") + b")\x81}(" + short("x") + b"K\x01" + short("y") + b"K\x01" + short("__class__") + b"K\x01ub.",
    "a dataclass that acts": P + name("toolbox.shapes", "Acts") + b")\x81}" + short("path") + short("/x") + b"sb.",
    "state for a list": P + b"]}b.",
    "state for a text": P + short("x") + b"}" + short("a") + b"K\x01sb.",
    "a text is called": P + short("x") + b")R.",
    "a persistent id": P + b"K\x01Q.",
    "an extension": P + b"\x82\x01.",
    "a memo far away": P + b"]r\xff\xff\xff\x7f.",
    "a memo that is not there": P + b"j\xff\xff\xff\x7f.",
    "a text that is too long": P + b"\x8d" + struct.pack("<Q", 2**62) + b".",
    "bytes that are too long": P + b"\x8e" + struct.pack("<Q", 2**63) + b".",
    "a bytearray that is too long": P + b"\x96" + struct.pack("<Q", 2**40) + b".",
    "a bytearray of a number": P + name("builtins", "bytearray") + b"J\xff\xff\xff\x7f\x85R.",
    "a long number that is not there": P + b"\x8b\xff\xff\xff\x7f.",
    "a frame that is too long": P + b"\x95" + b"\xff" * 8,
    "a fraction of a billion digits": P + name("fractions", "Fraction") + short("1e999999999") + b"\x85R.",
    "a date that does not exist": P + name("datetime", "date") + b"K\x00K\x00K\x00\x87R.",
    "deeply nested tuples": P + b")" + b"\x85" * 100_000 + b".",
    "deeply nested lists": P + b"](" * 100_000 + b"e" * 100_000 + b".",
    "a list in itself": P + b"]\x94h\x00a.",
    "a dict in itself": P + b"}\x94K\x01h\x00s.",
    "a billion laughs": P + b"](]\x94" + b"".join(b"](" + (b"h" + bytes([i])) * 10 + b"e\x94" for i in range(12)) + b"e.",
    "copies of a large one": P + b"](" + name("builtins", "bytearray") + b"\x94B" + struct.pack("<I", 1 << 20) + b"x" * (1 << 20)
        + b"\x85\x94" + b"h\x00h\x01R" * 500 + b"e.",
    # hash() recurses to the bottom of a tuple, on the C stack, once for each reference.
    "a deep key": P + b"})" + b"\x85" * 200_000 + b"K\x01s.",
    "deep keys": P + b"}()" + b"\x85" * 200_000 + b"K\x01u.",
    "a deep member": P + b"\x8f()" + b"\x85" * 200_000 + b"\x90.",
    "a deep member of a frozenset": P + b"()" + b"\x85" * 200_000 + b"\x91.",
    "an endless key": P + doubled(60) + b"}h\x3cK\x01s.",
    "an endless member": P + doubled(60) + b"\x8f(h\x3c\x90.",
    "endless keys by turns": P + doubled(15) + b"}(" + b"h\x0fK\x01" * 10_000 + b"u.",
    "a dataclass that is endless to hash": P + doubled_path(60) + b"}h\x3cK\x01s.",
    "a fraction of numbers without end": P + name("fractions", "Fraction") + long(1 << 20) + long((1 << 20) - 1) + b"\x86R.",
    "a decimal of a number without end": P + name("decimal", "Decimal") + long(1 << 20) + b"\x85R.",
    "a field whose name is a number without end": P + name("toolbox.shapes", "Point") + b")\x81}" + long(1 << 20) + b"K\x01sb.",
    "an unhashable key": P + b"}]K\x01s.",
    "an unhashable member": P + b"\x8f(]\x90.",
    "a key without a value": P + b"}(K\x01u.",
    "nothing": b"",
    "half of one": pickle.dumps([1, 2, "three"], 4)[:-4],
    "no pickle": b"hello",
    "two values": P + b"K\x01K\x02.",
    "a mark that is left": P + b"(K\x01.",
    "the stack is empty": P + b".",
    "too few for a tuple": P + b"\x87.",
    "a mark too few": P + b"e.",
    "popped below a mark": P + b"K\x01(0e.",
    "an unknown protocol": b"\x80\xff.",
    "text that is no UTF-8": P + b"\x8c\x02\xff\xfe.",
    "attributes of a module that acts": P + name("toolbox.lazy", "anything") + b".",
}


# The expected message, where another refusal would hide that this one is missing.
WORDS = {
    "calls getattr": "other than an allowed Enum",
    "calls getattr on a class": "other than an allowed Enum",
    "calls os.system": "posix.system is not plain data",
    "a dotted name through os": "is not plain data",
    "a dataclass is called": "cannot be made by this opcode",
    "a dataclass without its fields": "Point is not data",
    "a dataclass with half of its fields": "lacks its field 'y'",
    "a dataclass with __class__": "has no field '__class__'",
    "a dataclass that acts": "Acts is not plain data",
    "a memo far away": "opcode 0x72",
    "a bytearray that is too long": "cut short",
    "a bytearray of a number": "a bytearray is not made of bytes",
    "a fraction of a billion digits": "a Fraction is not made of integers",
    "deeply nested tuples": "nested more than",
    "deeply nested lists": "nested more than",
    "a list in itself": "nested more than",
    "a billion laughs": "repeats itself",
    "copies of a large one": "too much memory",
    "a deep key": "nested more than",
    "deep keys": "nested more than",
    "a deep member": "nested more than",
    "a deep member of a frozenset": "nested more than",
    "an endless key": "repeats itself",
    "an endless member": "repeats itself",
    "endless keys by turns": "repeats itself",
    "a dataclass that is endless to hash": "repeats itself",
    "a fraction of numbers without end": "too long for a Fraction",
    "a decimal of a number without end": "a Decimal is not made of text",
    "a field whose name is a number without end": "a field name that is not text",
    "attributes of a module that acts": "toolbox.lazy.anything is not plain data",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_pickle_from_inside_the_guest(backend, kind):
    begin = time.process_time()
    with pytest.raises(RuntimeError, match="cannot be read.*" + WORDS.get(kind, "")):
        backend.execute("t", tools.sends, {"data": HOSTILE[kind]})
    assert time.process_time() - begin < 20
    assert not os.path.exists(MARKER) and shapes.dropped == []


def test_pickles_are_hostile_to_the_ordinary_unpickler():
    """Shows that these pickles are really hostile."""
    try:
        for kind in ("calls os.system", "calls eval", "protocol 0", "protocol 2"):
            pickle.loads(HOSTILE[kind])
            assert os.path.exists(MARKER), kind
            os.unlink(MARKER)
        assert pickle.loads(HOSTILE["a function of the caller's"]) == 10
    finally:
        if os.path.exists(MARKER):
            os.unlink(MARKER)


@pytest.mark.parametrize(
    "value, words",
    [
        (name("datetime", "date"), "datetime.date is not data"),
        (b")" + b"\x85" * 1000, "nested more than"),
        (b"](" + doubled(60) + b"h\x3ce", "repeats itself"),
    ],
    ids=["a maker", "deep", "endless"],
)
@pytest.mark.parametrize("way", ["its state", "its arguments"])
def test_allowed_types_are_made_of_data(way, value, words, monkeypatch):
    """An allowed type trusts its arguments, so they must be plain data."""
    monkeypatch.setattr(_plain, "MAX_VALUES", 200_000)
    of = name("toolbox.shapes", "NoData")
    hostile = of + b")\x81}" + short("value") + value + b"sb." if way == "its state" else of + value + b"\x85R."
    with pytest.raises(_plain.Refusal, match=words):
        _plain.loads(P + hostile, [shapes.NoData])


def test_allowed_types_are_measured_as_a_whole():
    one = name("toolbox.shapes", "NoData") + b"%b\x85R"
    deep = b"N"
    for _ in range(500):
        deep = one % deep
    with pytest.raises(_plain.Refusal, match="nested more than"):
        _plain.loads(P + deep + b".", [shapes.NoData])
    inner = _plain.loads(P + one % (one % b"K\x07") + b".", [shapes.NoData])
    assert inner.value.value == 7


def test_colliding_keys_are_refused_after_a_time(monkeypatch):
    """Numbers with the same hash make a dict slow: time is bounded, too."""
    monkeypatch.setattr(_plain, "MAX_TIME", 0.5)
    same_hash = [i * ((1 << 61) - 1) for i in range(1, 60_000)]
    body = b"".join(b"\x8a" + bytes([len(n)]) + n for n in (i.to_bytes(11, "little") for i in same_hash))
    begin = time.process_time()
    for pickled in (P + b"\x8f(" + body + b"\x90.", P + b"(" + body + b"\x91."):
        with pytest.raises(_plain.Refusal, match="longer than"):
            _plain.loads(pickled)
    assert time.process_time() - begin < 15


def test_result_that_is_not_text_is_refused(backend):
    for script in ("[1]", "None", "'not base64'", "{'a': 1}", "'é'"):
        backend._script, kept = f"result = {script}", backend._script
        try:
            with pytest.raises(RuntimeError, match="cannot be read|returned no result"):
                backend.execute("t", tools.nothing, {})
        finally:
            backend._script = kept


def test_damaged_pickles_are_refused_or_data():
    """Whatever is broken, the result is a Refusal or data."""
    good = pickle.dumps({"a": [1, 2.5, shapes.Point(1, 2), (b"x", {3}), None], "b": "c" * 300}, 4)
    assert _plain.loads(good)["a"][2] == shapes.Point(1, 2)
    for i in range(len(good)):
        for changed in [good[:i]] + [good[:i] + bytes([good[i] ^ bit]) + good[i + 1 :] for bit in (1, 4, 0x10, 0x80, 0xFF)]:
            try:
                _plain.loads(changed)
            except _plain.Refusal:
                pass


def test_reads_every_pickle_of_plain_data():
    import random

    random.seed(1)

    def value(depth):
        kinds = 12 if depth < 4 else 7
        kind = random.randrange(kinds)
        if kind == 7:
            return [value(depth + 1) for _ in range(random.randrange(6))]
        if kind == 8:
            return tuple(value(depth + 1) for _ in range(random.randrange(6)))
        if kind == 9:
            return {random.choice("abc") + str(i): value(depth + 1) for i in range(random.randrange(6))}
        if kind == 10:
            return {random.randrange(100) for _ in range(random.randrange(6))}
        if kind == 11:
            return shapes.Point(value(depth + 1), value(depth + 1))
        return [None, True, random.randrange(-(2**70), 2**70), random.random(), "t" * random.randrange(300), b"b" * random.randrange(300), False][kind]

    for _ in range(300):
        it = value(0)
        assert _plain.loads(pickle.dumps(it, 4)) == it
        assert _plain.loads(pickletools.optimize(pickle.dumps(it, 4))) == it
