"""Values with named fields. dataclasses would do, but importing it takes longer than a run."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, ClassVar, Dict, Mapping, Tuple

    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Record:
    """A value whose fields are the annotated names of its class. They cannot be assigned to.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1, y=2) == Point(1, 2)
    (Point(x=1, y=0), True)
    """

    __match_args__: ClassVar[Tuple[str, ...]] = ()
    _defaults: ClassVar[Dict[str, Any]] = {}
    #: Fields that repr() leaves out.
    _hidden: ClassVar[Tuple[str, ...]] = ()
    #: Fields in which equal values may differ.
    _equal_without: ClassVar[Tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc]
        cls._defaults = {name: cls.__dict__[name] for name in cls.__match_args__ if name in cls.__dict__}

    if not TYPE_CHECKING:

        def __init__(self, *values, **named):
            names = self.__match_args__
            if len(values) > len(names):
                raise TypeError(f"{type(self).__name__} has {len(names)} fields, and {len(values)} were given")
            fields = dict(zip(names, values))
            for name in named:
                if name not in names or name in fields:
                    raise TypeError(f"{type(self).__name__} has no field {name!r}" if name not in names else f"{name} was given twice")
            self._fill({**fields, **named})

    def _fill(self, fields: Mapping[str, Any]) -> None:
        own = self.__dict__
        for name in self.__match_args__:
            if name in fields:
                own[name] = fields[name]
            elif name in self._defaults:
                value = self._defaults[name]
                own[name] = value.copy() if type(value) in (list, dict) else value
            else:
                raise TypeError(f"{type(self).__name__} needs the field {name!r}")

    @classmethod
    def _known(cls, fields: Mapping[str, Any]) -> Self:
        """Makes a value from the fields that this version knows: a newer cordon may send more."""
        value = cls.__new__(cls)
        value._fill(fields)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be removed")

    def _compared(self) -> Tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__ if name not in self._equal_without)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__ if name not in self._hidden)
        return f"{type(self).__name__}({', '.join(shown)})"
