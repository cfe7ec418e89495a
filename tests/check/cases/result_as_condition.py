import itertools
from collections.abc import Callable, Iterable, Iterator

from returns.future import future_safe
from returns.io import impure_safe

from seamwise import Category, Failure, Result, Success, TaggedError, is_success


class Full(TaggedError, category=Category.RESOURCE, message='full'):
    pass


def save(name: str) -> Result[int, Full]:
    return Success(len(name)) if name else Failure(Full())


async def load(name: str) -> Result[int, Full]:
    return save(name)


def find(name: str) -> Result[int, Full] | None:
    return save(name) if name else None


# case: the condition of an if
def condition(name: str) -> str:
    if save(name):  # finds: SW117
        return 'saved'
    return 'full'


# case: negated
def negated(name: str) -> str:
    if not save(name):  # finds: SW117
        return 'full'
    return 'saved'


# case: after an await
async def awaited(name: str) -> str:
    if await load(name):  # finds: SW117
        return 'loaded'
    return 'full'


# case: a missing await
async def not_awaited(name: str) -> str:
    if load(name):  # finds: SW117
        return 'loaded'
    return 'full'


# case: a name
def named(name: str) -> str:
    saved = save(name)
    return 'saved' if saved else 'full'  # finds: SW117


# case: a walrus in an elif
def walrus(name: str) -> str:
    if name == 'a':
        return 'a'
    elif saved := save(name):  # finds: SW117
        return str(saved)
    return 'full'


# case: a loop
def loop(name: str) -> None:
    while save(name):  # finds: SW117
        pass


# case: an assertion
def asserted(name: str) -> None:
    assert save(name), 'not saved'  # finds: SW117


# case: the first operand of and, and of or
def operands(name: str) -> object:
    first = save(name) and 'saved'  # finds: SW117
    second = save(name) or 'full'  # finds: SW117
    return first, second


# case: the last operand of a condition
def last_operand(name: str) -> str:
    if name and save(name):  # finds: SW117
        return 'saved'
    return 'full'


# case: the last operand of a value is no condition
def value(name: str) -> Result[int, Full] | str:
    return name and save(name)


# case: a filter in a comprehension
def comprehension(names: list[str]) -> list[str]:
    return [name for name in names if save(name)]  # finds: SW117


# case: a guard of an arm
def arm(name: str) -> str:
    match name:
        case 'a' if save(name):  # finds: SW117
            return 'saved'
        case _:
            return 'full'


# case: bool, all, any and filter
def functions(names: list[str], results: list[Result[int, Full]]) -> object:
    return (
        bool(save('a')),  # finds: SW117
        all(results),  # finds: SW117
        any(save(name) for name in names),  # finds: SW117
        all(map(save, names)),  # finds: SW117
        list(filter(None, results)),  # finds: SW117
    )


# case: a check by a function or a class
def checked(name: str, results: list[Result[int, Full]]) -> object:
    if isinstance(save(name), Success) or is_success(save(name)):
        return all(isinstance(result, Success) for result in results)
    return any(map(is_success, results))


# case: a Result or None
def optional(name: str) -> str:
    found = find(name)
    if found:
        return 'found'
    return 'missing' if not find(name) else 'found'


# case: a Result of a dict
def cached(cache: dict[str, Result[int, Full]], name: str) -> Result[int, Full]:
    return cache.get(name) or save(name)


# case: a list of Results, which may be empty
def many(results: list[Result[int, Full]], all_results: list[list[Result[int, Full]]]) -> object:
    if results and all(all_results):
        return results
    return not results


# case: the value of a Result
def of_value(name: str) -> bool:
    match save(name):
        case Success(size):
            return bool(size) and not size
        case Failure(_):
            return False


# case: a truth value from a Result
def method(name: str) -> str:
    if save(name).value_or(0):
        return 'saved'
    return 'empty' if save(name) == Success(0) else 'full'


# case: a function that may be missing
def callback(save_it: Callable[[str], Result[int, Full]] | None) -> object:
    return save_it('a') if save_it else None


# case: Results of an iterator
def iterated(results: Iterator[Result[int, Full]], others: Iterable[Result[int, Full] | None]) -> object:
    return list(results) and [other for other in others if other]


# case: other values of a generator
def texts(names: dict[str, str]) -> object:
    return next(filter(None, (names.get(name) for name in names)), ''), any(name for name in names)


# case: any value
def unknown(value: object, anything) -> bool:  # type: ignore[no-untyped-def]
    return bool(value) or bool(anything)


# case: a function that selects items
def selected(names: list[str]) -> object:
    return list(filter(save, names))  # finds: SW117


# case: functions that select items, of itertools
def taken(names: list[str]) -> object:
    taken = itertools.takewhile(save, names)  # finds: SW117
    dropped = itertools.dropwhile(lambda name: save(name), names)  # finds: SW117
    return [*taken, *dropped, *itertools.filterfalse(save, names)]  # finds: SW117


class Folder:
    def check(self, name: str) -> Result[int, Full]:
        return save(name)

    # case: a method that selects items
    def checked(self, names: list[str]) -> list[str]:
        return [*filter(self.check, names)]  # finds: SW117

    # case: the truth value of an object
    def __bool__(self) -> bool:
        return bool(self.check('a'))  # finds: SW117


# case: selected by the class of the Result
def successes(names: list[str]) -> object:
    return list(filter(lambda name: isinstance(save(name), Success), names)), [*filter(str.isalpha, names)]


@impure_safe
def read(path: str) -> str:
    with open(path) as file:
        return file.read()


@future_safe
async def read_later(path: str) -> str:
    return read(path).unwrap()._inner_value


# case: a Result of an effect
def effect(path: str) -> str:
    return 'read' if read(path) else 'not read'  # finds: SW117


# case: a Result in the future
async def future(path: str) -> str:
    return 'read' if read_later(path) else 'not read'  # finds: SW117


# case: a Result of a future
async def awaited_future(path: str) -> str:
    if not await read_later(path):  # finds: SW117
        return 'not read'
    return 'read'
