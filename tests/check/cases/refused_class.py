from abc import ABC
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, Literal, TypeVar

import pytest

from seamwise import Category, Cause, Recovery, Secret, TaggedError

Names = list[str]
T = TypeVar('T')


# case: no category
class Missing(TaggedError, message='missing'):  # finds: SW120
    pass


# case: no arguments
class Bare(TaggedError):  # finds: SW120
    pass


# case: a subclass
class Broken(TaggedError, category=Category.CONFLICT, message='broken'):
    pass


class VeryBroken(Broken, category=Category.CONFLICT, message='very broken'):  # finds: SW120
    pass


# case: a list
class Listed(TaggedError, category=Category.CONFLICT, message='listed'):
    names: list[str]  # finds: SW120
    path: str = ''


# case: a dict, a set, a deque and a bytearray
class Contained(TaggedError, category=Category.CONFLICT, message='contained'):
    by_name: dict[str, int]  # finds: SW120
    names: set[str]  # finds: SW120
    queue: deque[int]  # finds: SW120
    data: bytearray  # finds: SW120


# case: inside other types
class Nested(TaggedError, category=Category.CONFLICT, message='nested'):
    pairs: tuple[tuple[str, list[int]], ...]  # finds: SW120
    optional: 'dict[str, int] | None' = None  # finds: SW120


# case: an abstract collection, whose values may be lists
class Abstract(TaggedError, category=Category.CONFLICT, message='abstract'):
    names: Sequence[str]  # finds: SW120
    by_name: Mapping[str, int]  # finds: SW120


# case: an alias
class Aliased(TaggedError, category=Category.CONFLICT, message='aliased'):
    names: Names  # finds: SW120


# case: an unhashable class
@dataclass
class Point:
    x: int
    __hash__: ClassVar[None]


class AtPoint(TaggedError, category=Category.CONFLICT, message='at a point'):
    point: Point  # finds: SW120


# case: a reserved name
class Tagged(TaggedError, category=Category.CONFLICT, message='tagged'):
    tag: str  # finds: SW120
    retryable: bool = False  # finds: SW120


# case: a reserved name that is assigned
class Assigned(TaggedError, category=Category.CONFLICT, message='assigned'):
    retryable = True  # finds: SW120


# case: a reserved name as a method
class WithMethod(TaggedError, category=Category.CONFLICT, message='method'):
    def recovery(self) -> Recovery:  # finds: SW120
        return Recovery.RETRY


# case: a message with an unknown field
class Unknown(TaggedError, category=Category.CONFLICT, message='no {nmae}'):  # finds: SW120
    name: str


# case: a message with a format that the field does not have
class Formatted(TaggedError, category=Category.CONFLICT, message='{name:d}'):  # finds: SW120
    name: str


# case: a class that is accepted
class Accepted(TaggedError, category=Category.CONFLICT, message='{name} in {path!r}'):
    name: str
    path: str
    names: tuple[str, ...] = ()
    others: frozenset[str] = frozenset()
    data: bytes = b''
    cause: Cause | None = None


# case: types that are hashable whatever their arguments are
class Opaque(TaggedError, category=Category.CONFLICT, message='opaque'):
    key: Secret[list[str]]
    kind: type[list[int]]
    step: Callable[[list[int]], dict[str, int]]
    mode: Literal['list', 'set'] = 'list'
    size: Annotated[int, 'a list'] = 0


# case: a class variable
class Constant(TaggedError, category=Category.CONFLICT, message='constant'):
    NAMES: ClassVar[list[str]] = []


# case: a property
class Decided(TaggedError, category=Category.CONFLICT, message='decided', retryable=True, tag='DECIDED'):
    again: bool

    @property
    def retryable(self) -> bool:
        return self.again


# case: a frozen dataclass
@dataclass(frozen=True)
class Place:
    names: tuple[str, ...] = ()


class AtPlace(TaggedError, category=Category.CONFLICT, message='at {place}'):
    place: Place


# case: a test of the refusal
def test_refusal() -> None:
    with pytest.raises(TypeError):

        class Refused(TaggedError, message='refused'):
            names: list[str]

    class Ignored(TaggedError, message='ignored'):  # type: ignore[misc]
        pass


# case: keywords of a mapping
OPTIONS = {'category': Category.CONFLICT, 'message': 'x'}


class ByMapping(TaggedError, **OPTIONS):  # type: ignore[arg-type]
    pass


# case: other classes
class Plain:
    tag: str
    names: list[str]


class Other(Plain):
    retryable = True


class Problem(Exception):
    tag: str = ''
    names: list[str] = []


# case: methods and names that a class with fields cannot define
class WithInit(TaggedError, category=Category.CONFLICT, message='no'):
    def __init__(self) -> None:  # finds: SW120
        pass


class WithSlots(TaggedError, category=Category.CONFLICT, message='no'):
    __slots__ = ()  # finds: SW120


# case: other methods
class Plain:
    def plain(self) -> int:
        return 1


class WithMethods(Plain, TaggedError, category=Category.CONFLICT, message='no'):
    number: int

    def __post_init__(self) -> None:
        pass

    def __str__(self) -> str:
        return str(self.number)


# case: an exception too
class AlsoException(TaggedError, ValueError, category=Category.CONFLICT, message='no'):  # finds: SW120
    pass


# case: another metaclass
class AlsoAbstract(TaggedError, ABC, category=Category.CONFLICT, message='no'):  # finds: SW120
    pass


# case: a generic class
class WithValue(TaggedError, Generic[T], category=Category.CONFLICT, message='no'):
    value: T


# case: a dataclass
@dataclass(frozen=True)  # finds: SW120
class Data(TaggedError, category=Category.CONFLICT, message='no'):
    number: int


# case: the name of a category
class Named(TaggedError, category='conflict', message='no'):  # finds: SW120
    pass


# case: the tag of another class
class Late(TaggedError, category=Category.TIMEOUT, message='late'):
    pass


class TooLate(TaggedError, category=Category.TIMEOUT, message='too late', tag='Late'):  # finds: SW120
    pass


class Trains:
    class Late(TaggedError, category=Category.TIMEOUT, message='late'):  # finds: SW120
        pass


# case: the tag of another class in another namespace, or in a function
class LateTrain(TaggedError, category=Category.TIMEOUT, message='late', tag='Late', namespace='trains'):
    pass


def local_tag() -> type[TaggedError]:
    class LateBus(TaggedError, category=Category.TIMEOUT, message='late', tag='Late'):
        pass

    return LateBus


# case: one tag for alternatives
if TYPE_CHECKING:

    class LateShip(TaggedError, category=Category.TIMEOUT, message='late', tag='LATE_SHIP'):
        pass

else:

    class SlowShip(TaggedError, category=Category.TIMEOUT, message='late', tag='LATE_SHIP'):
        pass
