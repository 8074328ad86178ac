import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import List


@dataclass
class Point:
    x: float
    y: float


@dataclass(frozen=True)
class Path:
    points: tuple
    tags: List[str] = field(default_factory=list)


@dataclass
class Empty:
    pass


class Color(Enum):
    RED = 1
    BLUE = 2


class NoData:
    def __init__(self, value=1):
        self.value = value


@dataclass
class Acts:
    """What it does when it is dropped must not be a guest's to decide."""

    path: str = ""

    def __del__(self):
        dropped.append(self.path)


dropped = []


@dataclass
class Local:
    a: int


if sys.version_info >= (3, 10):

    @dataclass(frozen=True, slots=True)
    class Slotted:
        a: int
        b: str = "b"
else:

    @dataclass(frozen=True)
    class Slotted:
        a: int
        b: str = "b"
