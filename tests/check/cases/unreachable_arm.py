from typing import Generic, TypeVar, assert_never

from seamwise import Category, Do, Failure, Result, Success, TaggedError, accumulate, catch, collect, fallible
from seamwise.seams import cli, http
from seamwise.seams.http import HttpError, on


class A(TaggedError, category=Category.NOT_FOUND, message='a'):
    pass


class B(TaggedError, category=Category.CAPACITY, message='b'):
    pass


class C(TaggedError, category=Category.VALIDATION, message='c'):
    text: str = ''


class Base(TaggedError, category=Category.VALIDATION, message='base'):
    pass


class Leaf(Base, category=Category.VALIDATION, message='leaf'):
    pass


def a() -> Result[int, A]:
    return Failure(A())


def ab(number: int = 0) -> Result[int, A | B]:
    return Failure(A()) if number else Failure(B())


# case: an arm for nothing
def nothing() -> int:
    match a():
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(B()):  # finds: SW108
            return 2


# case: every arm is met
def met() -> int:
    match ab():
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(B()):
            return 2


# case: an arm after a class without parentheses, which SW123 reports
def after_capture() -> int:
    match ab():
        case Success(value):
            return value
        case Failure(A):
            return 1
        case Failure(B()):
            return 2


# case: the same arm twice
def twice() -> int:
    match ab():
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(A()):  # finds: SW108
            return 3
        case Failure(B()):
            return 2


# case: the same class, the first time under a condition
def guarded(number: int) -> int:
    match ab():
        case Success(value):
            return value
        case Failure(A()) if number:
            return 1
        case Failure(A()):
            return 3
        case Failure(B()):
            return 2


# case: the same class, the first time with a field
def with_field(error: A | C) -> int:
    match error:
        case C(text='x'):
            return 1
        case C():
            return 2
        case A():
            return 3


# case: the same class, the first time with any field
def with_any_field(error: A | C) -> int:
    match error:
        case C(text=text):
            return len(text)
        case C():  # finds: SW108
            return 2
        case A():
            return 3


# case: two levels
def levels() -> int:
    match a():
        case Success(value):
            return value
        case Failure(error):
            match error:
                case A():
                    return 1
                case B():  # finds: SW108
                    return 2
                case _:
                    assert_never(error)


# case: two levels, all met
def levels_met() -> int:
    match ab():
        case Success(value):
            return value
        case Failure(error):
            match error:
                case A():
                    return 1
                case B():
                    return 2
                case _:
                    assert_never(error)


# case: alternatives
def alternatives(error: A) -> int:
    match error:
        case A() | B():  # finds: SW108
            return 1


# case: alternatives, all met
def alternatives_met(error: A | B) -> int:
    match error:
        case A() | B():
            return 1


# case: a parameter
def parameter(error: A | B) -> int:
    match error:
        case A():
            return 1
        case B():
            return 2
        case C():  # finds: SW108
            return 3


# case: an arm for a base class handles its subclass
def of_base(error: A | Leaf) -> int:
    match error:
        case A():
            return 1
        case Base():
            return 2


# case: a leaf behind its base
def leaf_behind(error: A | Leaf) -> int:
    match error:
        case A():
            return 1
        case Base():
            return 2
        case Leaf():  # finds: SW108
            return 3


# case: a leaf of a base in the channel
def leaf_of_base(error: A | Base) -> int:
    match error:
        case A():
            return 1
        case Leaf():
            return 2
        case Base():
            return 3


# case: any tagged error
def any_error(error: TaggedError) -> int:
    match error:
        case A():
            return 1
        case B():
            return 2
        case _:
            return 3


# case: an untyped value
def unknown(error) -> int:
    match error:
        case A():
            return 1
        case B():
            return 2


# case: any object
def any_object(error: object) -> int:
    match error:
        case A():
            return 1
        case B():
            return 2
        case _:
            return 3


# case: an error removed by catch
def after_catch() -> int:
    left = catch(A, lambda error: Success(1))(ab())
    match left:
        case Success(value):
            return value
        case Failure(A()):  # finds: SW108
            return 1
        case Failure(B()):
            return 2


# case: a Success only
def only_success() -> int:
    found = Success(1)
    match found:
        case Success(value):
            return value
        case Failure(A()):  # finds: SW108
            return 1


# case: collected
def collected() -> int:
    match collect(a(), ab()):
        case Success(values):
            return sum(values)
        case Failure(A()):
            return 1
        case Failure(B()):
            return 2
        case Failure(C()):  # finds: SW108
            return 3


# case: under a name with a wider type than its value
def wide_name() -> int:
    found: Result[int, A | B | C] = ab()
    match found:
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(B()):
            return 2
        case Failure(C()):  # finds: SW108
            return 3


# case: after an early return
def narrowed(error: A | B) -> int:
    if isinstance(error, A):
        return 1
    match error:
        case A():  # finds: SW108
            return 1
        case B():
            return 2


# case: the error taken out
def taken_out() -> int:
    found = a()
    if isinstance(found, Success):
        return found.unwrap()
    match found.failure():
        case A():
            return 1
        case B():  # finds: SW108
            return 2


# case: direct style
@fallible
def direct(do: Do[C], error: A | B) -> int:
    match error:
        case A():
            return 1
        case B():
            return do.fail(C())


# case: a match over something else than errors
def no_errors(value: int | str) -> int:
    match value:
        case int():
            return 1
        case str():
            return 2


# case: a capture of the whole value
def whole() -> int:
    match ab():
        case Success(value):
            return value
        case Failure(A()) as failed:
            return len(str(failed))
        case Failure(B() | A()) as failed:  # finds: SW108
            return len(str(failed))


# case: a shared adapter covers more
SHARED = on(A).responds(404, 'A') | on(B).responds(503, 'B') | on(C).responds(400, 'C')


def shared(error: A) -> HttpError:
    return SHARED(error)


# case: an adapter used at once
def at_once(error: A) -> HttpError:
    return (on(A).responds(404, 'A') | on(B).responds(503, 'B'))(error)  # finds: SW108


# case: an adapter used at once, all met
def at_once_met(error: A | B) -> HttpError:
    return (on(A).responds(404, 'A') | on(B).responds(503, 'B'))(error)


# case: a local adapter
def local(error: A) -> HttpError:
    adapter = (
        on(A).responds(404, 'A')
        | on(B).responds(503, 'B')  # finds: SW108
    )
    return adapter(error)


# case: a local adapter that is passed on
def handed_on(error: A) -> object:
    adapter = on(A).responds(404, 'A') | on(B).responds(503, 'B')
    return adapter, error


# case: a local adapter that is used twice
def used_twice(one: A, other: B) -> list[HttpError]:
    adapter = on(A).responds(404, 'A') | on(B).responds(503, 'B')
    return [adapter(one), adapter(other)]


# case: a local adapter of another seam
def of_cli(error: A) -> object:
    adapter = cli.on(A).exits(1) | cli.on(C).exits(2)  # finds: SW108
    return adapter(error)


# case: a local adapter for the errors of a result
def of_result() -> HttpError | int:
    found = a()
    if isinstance(found, Success):
        return found.unwrap()
    adapter = on(A).responds(404, 'A') | http.on(B).responds(503, 'B')  # finds: SW108
    return adapter(found.failure())


# case: a hidden arm of a local adapter
def hidden(error: A) -> HttpError:
    adapter = on(A).responds(404, 'A') | on(B).hidden()  # finds: SW108
    return adapter(error)


E = TypeVar('E')


class Box(Generic[E]):
    def __init__(self, error: E) -> None:
        self.error = error


# case: out of a generic class
def of_box(box: Box[A]) -> int:
    match box.error:
        case A():
            return 1
        case B():  # finds: SW108
            return 2


# case: a type variable
def of_variable(error: E) -> int:
    match error:
        case A():
            return 1
        case B():
            return 2
        case _:
            return 3


# case: in a loop
def in_loop(errors: list[A | B]) -> int:
    for error in errors:
        match error:
            case A():
                return 1
            case B():
                return 2
            case C():  # finds: SW108
                return 3
    return 0


# case: a None in addition to the errors
def or_none(error: A | None) -> int:
    match error:
        case A():
            return 1
        case None:
            return 0
        case B():  # finds: SW108
            return 2


# case: several results at once
def at_once_matched() -> int:
    match a(), ab():
        case Success(one), Success(other):
            return one + other
        case Failure(B()), _:  # finds: SW108
            return 1
        case _, Failure(B()):
            return 2
        case _:
            return 3


# case: one of several failures
def one_of_several() -> int:
    match accumulate(a(), ab()):
        case Success(values):
            return sum(values)
        case Failure((C(), *_)):  # finds: SW108
            return 1
        case Failure((B(), *_)):
            return 2
        case Failure(errors):
            return len(errors)


# case: below an arm for any failure
def below_any() -> int:
    match ab():
        case Success(value):
            return value
        case Failure():
            return 1
        case Failure(A()):  # finds: SW108
            return 2


# case: assigned in a function inside
def assigned_inside() -> int:
    last: Result[int, A | B] = Success(0)

    def refresh() -> None:
        nonlocal last
        last = ab()

    refresh()
    match last:
        case Success(value):
            return value
        case Failure(A()):
            return 1
        case Failure(B()):
            return 2


# case: a local adapter as a step
def as_step() -> Result[int, HttpError]:
    adapter = on(A).responds(404, 'A') | on(B).responds(503, 'B')  # finds: SW108
    return a().alt(adapter)


# case: an adapter made for a step
def for_step() -> Result[int, HttpError]:
    return a().alt(
        on(A).responds(404, 'A')
        | on(B).responds(503, 'B'),  # finds: SW108
    )


# case: an adapter made for a step, all met
def for_step_met() -> Result[int, HttpError]:
    return ab().alt(on(A).responds(404, 'A') | on(B).responds(503, 'B'))


# case: a shared adapter as a step
def shared_step() -> Result[int, HttpError]:
    return a().alt(SHARED)
