from collections.abc import Callable
from typing import TypeAlias, assert_never

from seamwise import Category, Do, Failure, Result, Success, TaggedError, attempt, catch, fallible, when
from seamwise.seams import cli
from seamwise.seams.http import on


# case: made and shown
class Shown(TaggedError, category=Category.NOT_FOUND, message='x'):
    pass


def shown() -> Result[int, Shown]:
    return Failure(Shown())


# case: never created
class Unmade(TaggedError, category=Category.NOT_FOUND, message='x'):  # finds: SW111
    pass


# case: made, and shown nowhere
class Unshown(TaggedError, category=Category.NOT_FOUND, message='x'):  # finds: SW111
    pass


def unshown() -> Result[int, Unshown]:
    return Failure(Unshown())


# case: made by a step
class ByStep(TaggedError, category=Category.VALIDATION, message='{text}'):
    text: str


def by_step(result: Result[int, str]) -> Result[int, ByStep]:
    return result.alt(ByStep)


# case: made of an exception
class OfException(TaggedError, category=Category.VALIDATION, message='{text}'):
    text: ValueError


def of_exception(text: str) -> Result[int, OfException]:
    return attempt(lambda: int(text), when(ValueError).becomes(OfException))


# case: made in direct style
class Direct(TaggedError, category=Category.VALIDATION, message='x'):
    pass


@fallible
def direct(do: Do[Direct]) -> int:
    do.fail(Direct())


# case: handled by an arm
class ByArm(TaggedError, category=Category.VALIDATION, message='x'):
    pass


def by_arm(number: int) -> Result[int, ByArm]:
    return Failure(ByArm()) if number else Success(1)


def handles() -> int:
    match by_arm(1):
        case Success(value):
            return value
        case Failure(ByArm()):
            return 0


# case: taken out by a catch
class Caught(TaggedError, category=Category.VALIDATION, message='x'):
    pass


def caught(number: int) -> Result[int, Caught]:
    return Failure(Caught()) if number else Success(1)


def catches() -> Success[int] | Failure[Shown]:
    return catch(Caught, lambda error: Success(0))(caught(1))


# case: named in an alias and an arm, but never created
class Named(TaggedError, category=Category.VALIDATION, message='x'):  # finds: SW111
    pass


All: TypeAlias = Shown | Named

# case: declared to be hidden at the one seam
class Hidden(TaggedError, category=Category.VALIDATION, message='x'):
    pass


def hidden() -> Result[int, Hidden]:
    return Failure(Hidden())


# case: checked by isinstance only
class Asked(TaggedError, category=Category.VALIDATION, message='x'):  # finds: SW111
    pass


def asks(error: TaggedError) -> bool:
    return isinstance(error, Asked)


# case: a constant
class Constant(TaggedError, category=Category.VALIDATION, message='x'):
    pass


BUSY = Failure(Constant())


def text(error: Shown | Direct | Constant) -> str:
    match error:
        case Shown():
            return 'shown'
        case Direct():
            return 'direct'
        case Constant():
            return 'constant'
        case _:
            assert_never(error)


ANSWERS = on(Shown).responds(404, 'SHOWN') | on(ByStep).responds(400, 'STEP') | on(Named).responds(400, 'NAMED') | on(Hidden).hidden()
EXITS = cli.on(OfException).exits(1)


# case: made by a method of its class
class ByMethod(TaggedError, category=Category.VALIDATION, message='{text}'):
    text: str

    @classmethod
    def of(cls, number: int) -> 'ByMethod':
        return cls(str(number))


def by_method(number: int) -> Result[int, ByMethod]:
    return Failure(ByMethod.of(number))


# case: chosen from a table
class Chosen(TaggedError, category=Category.VALIDATION, message='x'):
    pass


KINDS = {400: Chosen}


def chosen(status: int) -> Result[int, Chosen]:
    return Failure(KINDS[status]())


# case: in a type only
class Typed(TaggedError, category=Category.VALIDATION, message='x'):  # finds: SW111
    pass


def typed(call: Callable[[Typed], Result[int, Typed]]) -> dict[str, Typed]:
    return {}


# case: handled together with all others
class Whatever(TaggedError, category=Category.VALIDATION, message='x'):
    pass


def whatever() -> Result[int, Whatever]:
    return Failure(Whatever())


def handles_whatever() -> str:
    match whatever():
        case Success(value):
            return str(value)
        case Failure(error):
            return str(error)


# case: lashed
class Lashed(TaggedError, category=Category.VALIDATION, message='x'):
    pass


def lashed() -> Result[int, Lashed]:
    return Failure(Lashed())


def lashes() -> Success[int]:
    return lashed().lash(lambda error: Success(0))


# case: inside of another error
class Inner(TaggedError, category=Category.VALIDATION, message='x'):
    pass


class Outer(TaggedError, category=Category.VALIDATION, message='x'):
    cause: Inner


def outer() -> Result[int, Outer]:
    return Failure(Outer(Inner()))


OTHERS = on(Outer).responds(400, 'OUTER') | on(ByMethod).responds(400, 'METHOD') | on(Chosen).responds(400, 'CHOSEN')
