#: enum-basics
#: Plain enums with methods, properties, lookup, iteration and aliases.
from enum import Enum, unique, auto


@unique
class Direction(Enum):
    NORTH = (0, -1)
    EAST = (1, 0)
    SOUTH = (0, 1)
    WEST = (-1, 0)

    def __init__(self, dx, dy):
        self.dx = dx
        self.dy = dy

    @property
    def opposite(self):
        return Direction((-self.dx, -self.dy))

    def turn(self, steps=1):
        order = list(Direction)
        return order[(order.index(self) + steps) % len(order)]


class Status(Enum):
    NEW = auto()
    ACTIVE = auto()
    RUNNING = 2
    DONE = auto()


def walk(path, at=(0, 0), facing=Direction.NORTH):
    for step in path:
        if step == "L":
            facing = facing.turn(-1)
        elif step == "R":
            facing = facing.turn()
        else:
            at = (at[0] + facing.dx * int(step), at[1] + facing.dy * int(step))
    return at, facing.name


try:
    Direction((5, 5))
    error = None
except ValueError as e:
    error = type(e).__name__
result = {
    "walk": walk("2R3R1L"),
    "opposite": Direction.EAST.opposite.name,
    "by_name": Direction["SOUTH"].value,
    "alias": Status.RUNNING is Status.ACTIVE,
    "names": [s.name for s in Status],
    "values": [s.value for s in Status],
    "member": Direction.WEST in Direction,
    "error": error,
    "repr": repr(Status.NEW),
    "str": str(Status.DONE),
}
#= {"walk": [[3, -1], "EAST"], "opposite": "WEST", "by_name": [0, 1], "alias": true, "names": ["NEW", "ACTIVE", "DONE"], "values": [1, 2, 3], "member": true, "error": "ValueError", "repr": "<Status.NEW: 1>", "str": "Status.DONE"}

#: enum-str-mixin
#: A str enum as JSON values, dictionary keys and comparisons.
import json
from enum import Enum


class Level(str, Enum):
    LOW = "low"
    MID = "mid"
    HIGH = "high"

    @classmethod
    def parse(cls, text):
        return cls(text.strip().lower())

    @classmethod
    def _missing_(cls, value):
        for member in cls:
            if value and member.value.startswith(value):
                return member
        return None

    @property
    def weight(self):
        return {"low": 1, "mid": 5, "high": 10}[self.value]

    def __lt__(self, other):
        return self.weight < other.weight


tickets = [{"id": 1, "level": Level.HIGH}, {"id": 2, "level": Level.parse(" LOW ")}, {"id": 3, "level": Level("m")}]
text = json.dumps(tickets)
back = [dict(t, level=Level(t["level"])) for t in json.loads(text)]
ranked = sorted(back, key=lambda t: t["level"], reverse=True)
try:
    Level("extreme")
    error = None
except ValueError as e:
    error = str(e)
result = [text, [t["id"] for t in ranked], Level.LOW == "low", "high" == Level.HIGH.value, {Level.MID: 1}["mid"], Level.HIGH.upper(), max(Level, key=lambda v: v.weight).name, error]
#= ["[{\"id\": 1, \"level\": \"high\"}, {\"id\": 2, \"level\": \"low\"}, {\"id\": 3, \"level\": \"mid\"}]", [1, 3, 2], true, true, 1, "HIGH", "HIGH", "'extreme' is not a valid Level"]

#: enum-flags
#: Permission flags with combination, masks and IntFlag arithmetic.
from enum import Flag, IntFlag, auto


class Perm(Flag):
    NONE = 0
    READ = auto()
    WRITE = auto()
    RUN = auto()
    ALL = READ | WRITE | RUN


class Mode(IntFlag):
    R = 4
    W = 2
    X = 1


class File:
    def __init__(self, name, perms=Perm.READ):
        self.name, self.perms = name, perms

    def grant(self, perms):
        self.perms |= perms
        return self

    def revoke(self, perms):
        self.perms &= ~perms
        return self

    def can(self, perm):
        return perm in self.perms

    def mode(self):
        return "".join(c if self.perms & p else "-" for c, p in zip("rwx", (Perm.READ, Perm.WRITE, Perm.RUN)))


f = File("notes").grant(Perm.WRITE | Perm.RUN)
before = f.mode()
f.revoke(Perm.WRITE)
octal = Mode.R | Mode.X
result = [before, f.mode(), f.can(Perm.RUN), f.can(Perm.ALL), bool(Perm.NONE), Perm.ALL.value, (Perm.ALL ^ Perm.READ).value, int(octal), octal == 5, Mode.W in Mode(7), Mode(6) & ~Mode.W == Mode.R]
#= ["rwx", "r-x", true, false, false, 7, 6, 5, true, true, true]

#: enum-int-order
#: IntEnum for severities and an ordered enum by hand.
from enum import IntEnum, Enum
from functools import total_ordering


class Severity(IntEnum):
    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


@total_ordering
class Size(Enum):
    S = "small"
    M = "medium"
    L = "large"

    def __lt__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        members = list(type(self))
        return members.index(self) < members.index(other)


LOG = """INFO start
DEBUG x=1
ERROR boom
WARNING hot
INFO end"""

records = [(Severity[word], rest) for word, rest in (line.split(" ", 1) for line in LOG.splitlines())]
threshold = Severity.WARNING
loud = [rest for level, rest in records if level >= threshold]
worst = max(level for level, _ in records)
result = {
    "loud": loud,
    "worst": worst.name,
    "sum": sum(level for level, _ in records),
    "int": int(Severity.INFO) + 1,
    "json_key": {Severity(20).name: 1},
    "sizes": [s.name for s in sorted([Size.L, Size.S, Size.M])],
    "bigger": Size.L > Size.S >= Size.S,
    "mixed": Size.S == "small",
}
#= {"loud": ["boom", "hot"], "worst": "ERROR", "sum": 120, "int": 21, "json_key": {"INFO": 1}, "sizes": ["S", "M", "L"], "bigger": true, "mixed": false}

#: enum-custom-new
#: Enums with __new__, extra attributes and a generated value.
from enum import Enum, auto


class Planet(Enum):
    def __new__(cls, mass, radius):
        obj = object.__new__(cls)
        obj._value_ = len(cls.__members__) + 1
        obj.mass = mass
        obj.radius = radius
        return obj

    MERCURY = (3.303e23, 2.4397e6)
    EARTH = (5.976e24, 6.37814e6)
    MARS = (6.421e23, 3.3972e6)

    @property
    def gravity(self):
        return 6.67300e-11 * self.mass / self.radius ** 2


class Slugged(Enum):
    def _generate_next_value_(name, start, count, last_values):
        return name.lower().replace("_", "-")


class Topic(Slugged):
    GAME_MODS = auto()
    DATA_TASKS = auto()


weights = {p.name.title(): round(75 * p.gravity / Planet.EARTH.gravity, 1) for p in Planet}
result = [weights, [p.value for p in Planet], [t.value for t in Topic], Topic("data-tasks").name, sorted(Planet.__members__)]
#= [{"Mercury": 28.3, "Earth": 75.0, "Mars": 28.4}, [1, 2, 3], ["game-mods", "data-tasks"], "DATA_TASKS", ["EARTH", "MARS", "MERCURY"]]

#: enum-functional-api
#: Enums made with the functional call and used in a dispatch table.
from enum import Enum, IntEnum

Color = Enum("Color", "RED GREEN BLUE")
Op = Enum("Op", {"ADD": "+", "SUB": "-", "MUL": "*"})
Rank = IntEnum("Rank", ["TWO", "THREE", "FOUR"], start=2)

TABLE = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
}


def rpn(text):
    stack = []
    symbols = {op.value for op in Op}
    for token in text.split():
        if token in symbols:
            b, a = stack.pop(), stack.pop()
            stack.append(TABLE[Op(token)](a, b))
        else:
            stack.append(int(token))
    return stack.pop()


result = [rpn("3 4 + 2 * 7 -"), [c.value for c in Color], Color(2).name, Color.RED.name, [int(r) for r in Rank], Rank.TWO < Rank.FOUR, len(Op)]
#= [7, [1, 2, 3], "GREEN", "RED", [2, 3, 4], true, 3]

#: enum-strenum
#: StrEnum, verified enums and members that are functions.
#: since 3.11
from enum import StrEnum, Enum, auto, verify, UNIQUE, CONTINUOUS, IntEnum, nonmember, member


class Event(StrEnum):
    USER_LOGIN = auto()
    USER_LOGOUT = auto()
    ERROR = "system-error"


@verify(UNIQUE, CONTINUOUS)
class Priority(IntEnum):
    LOW = 1
    MID = 2
    HIGH = 3


class Shape(Enum):
    SIDES = nonmember({"square": 4})

    @member
    def area(x):
        return x * x


handlers = {Event.USER_LOGIN: "welcome", Event.ERROR: "alarm"}
try:
    @verify(CONTINUOUS)
    class Gap(IntEnum):
        A = 1
        C = 3
    gap = None
except ValueError as e:
    gap = "gap"
result = [f"{Event.USER_LOGIN}", str(Event.ERROR), handlers["user_login"], Event.ERROR.split("-"), "user_logout" in [e.value for e in Event], [p.name for p in Priority], gap, Shape.SIDES["square"], Shape.area.value(7)]
#= ["user_login", "system-error", "welcome", ["system", "error"], true, ["LOW", "MID", "HIGH"], "gap", 4, 49]

#: enum-state-machine
#: A state machine with an enum of states and a transition table.
from enum import Enum


class State(Enum):
    IDLE = "idle"
    MOVING = "moving"
    BROKEN = "broken"


class Event(Enum):
    START, STOP, CRASH, REPAIR = range(4)


class InvalidTransition(Exception):
    def __init__(self, state, event):
        self.state, self.event = state, event
        super().__init__(f"{event.name} not possible while {state.value}")


class Machine:
    TRANSITIONS = {
        (State.IDLE, Event.START): State.MOVING,
        (State.MOVING, Event.STOP): State.IDLE,
        (State.MOVING, Event.CRASH): State.BROKEN,
        (State.BROKEN, Event.REPAIR): State.IDLE,
    }

    def __init__(self):
        self.state = State.IDLE
        self.listeners = []
        self.history = [self.state]

    def on(self, state):
        def register(callback):
            self.listeners.append((state, callback))
            return callback

        return register

    def fire(self, event):
        try:
            self.state = self.TRANSITIONS[self.state, event]
        except KeyError:
            raise InvalidTransition(self.state, event) from None
        self.history.append(self.state)
        for state, callback in self.listeners:
            if state is self.state:
                callback(event)


machine, alarms = Machine(), []


@machine.on(State.BROKEN)
def alarm(event):
    alarms.append(event.name)


errors = []
for event in (Event.START, Event.STOP, Event.CRASH, Event.START, Event.CRASH, Event.REPAIR):
    try:
        machine.fire(event)
    except InvalidTransition as e:
        errors.append(str(e))
result = [[s.value for s in machine.history], alarms, errors, machine.state.name]
#= [["idle", "moving", "idle", "moving", "broken", "idle"], ["CRASH"], ["CRASH not possible while idle"], "IDLE"]
