"""How far a code base is: what is counted, the way of an exception, and what would change first."""

import json
import textwrap
from pathlib import Path

import pytest

from seamwise.check.adoption.render import as_json, as_text
from seamwise.check.adoption.report import AdoptionReport, adoption
from seamwise.check.adoption.steps import Step

SHOP = """
from contextlib import suppress


class ShopError(Exception):
    pass


class NoOrder(ShopError):
    pass


class Store:
    def find(self, uid: int) -> str:
        if uid == 0:
            raise NoOrder(uid)
        return 'tea'


def show(store: Store, uid: int) -> str:
    return store.find(uid)


def main() -> int:
    try:
        print(show(Store(), 1))
    except ShopError:
        return 1
    return 0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report_of(source: str, **others: str) -> AdoptionReport:
    for name, text in {'shop': source, **others}.items():
        Path(f'{name}.py').write_text(textwrap.dedent(text), encoding='utf-8')
    report = adoption(['.'])
    assert report.problems == ()
    return report


def steps_of(source: str, kind: str, **others: str) -> list[Step]:
    return [one for one in report_of(source, **others).steps if one.kind == kind]


def test_a_class_of_exceptions_is_followed_from_its_raise_to_its_handler() -> None:
    [step] = steps_of(SHOP, 'error')
    assert (step.path, step.line, step.name, step.touches) == ('shop.py', 9, 'NoOrder', 3)
    assert step.why == 'is raised by `Store.find` and ends in `main` (shop.py:27).'
    assert step.how == 'Make it a TaggedError, which `Store.find` would return in a Failure.'


def test_functions_that_let_an_exception_through_are_counted_and_those_that_end_it_are_not() -> (
    None
):
    counts = report_of(SHOP).counts
    assert (counts.functions, counts.raising, counts.fallible) == (3, 2, 2)


def test_an_exception_that_nobody_handles_says_so() -> None:
    [step] = steps_of(
        'class Broken(Exception): ...\ndef fail() -> None:\n    raise Broken', 'error'
    )
    assert step.why == 'is raised by `fail` and is handled nowhere here.'


def test_one_that_ends_only_on_some_ways_says_so() -> None:
    source = """
    class Broken(Exception): ...
    def fail() -> None:
        raise Broken
    def careful() -> None:
        try:
            fail()
        except Broken:
            pass
    def careless() -> None:
        fail()
    """
    [step] = steps_of(source, 'error')
    assert step.why == 'is raised by `fail` and ends in `careful` (shop.py:8), or nowhere here.'
    assert step.touches == 3


def test_a_handler_ends_it_in_another_file_too() -> None:
    caller = """
    import shop
    try:
        shop.show(shop.Store(), 0)
    except (KeyError, shop.ShopError):
        pass
    """
    [step] = steps_of(SHOP, 'error', caller=caller)
    assert step.why == 'is raised by `Store.find` and ends in caller.py:5 and `main` (shop.py:27).'


@pytest.mark.parametrize(
    ('head', 'is_ended'),
    [
        ('except Broken:\n            pass', True),
        ('except (OSError, Broken):\n            pass', True),
        ('except MINE:\n            pass', True),
        ('except Exception:\n            pass', True),
        ('except:\n            pass', True),
        ('except OSError:\n            pass', False),
        ('except Broken:\n            raise', False),
        ('except Broken as error:\n            raise error', False),
        ('except OSError:\n            pass\n        except Broken:\n            pass', True),
        ('except Broken:\n            raise\n        except Exception:\n            pass', False),
        ('finally:\n            pass', False),
    ],
)
def test_a_handler_ends_what_it_takes_and_does_not_raise_again(head: str, is_ended: bool) -> None:
    source = f"""
    class Base(Exception): ...
    class Broken(Base): ...
    MINE = (Broken, ValueError)
    def run(flag: bool) -> None:
        try:
            if flag:
                raise Broken
        {head}
    """
    assert report_of(source).counts.raising == (not is_ended)


def test_suppress_ends_what_it_names() -> None:
    source = """
    from contextlib import suppress
    def quiet() -> None:
        with suppress(ValueError):
            raise ValueError
    def loud() -> None:
        with suppress(OSError):
            raise ValueError
    """
    assert [one.name for one in steps_of(source, 'raise')] == ['loud']


def test_what_a_handler_or_a_finally_raises_is_not_caught_beside_it() -> None:
    source = """
    def again(text: str) -> int:
        try:
            return int(text)
        except ValueError as raised:
            raise LookupError(text) from raised
        except LookupError:
            return 0
    """
    [step] = steps_of(source, 'raise')
    assert step.why == 'raises LookupError, which is handled nowhere here.'


def test_what_a_handler_raises_again_is_not_its_own() -> None:
    source = """
    def hand_on(path: str) -> str:
        try:
            return open(path).read()
        except OSError as raised:
            raise raised
    """
    assert report_of(source).counts.fallible == 0


def test_a_handler_that_translates_raises_the_other_kind_and_ends_the_first() -> None:
    source = """
    class Low(Exception): ...
    class High(Exception): ...
    def low() -> None:
        raise Low
    def high() -> None:
        try:
            low()
        except Low as raised:
            raise High from raised
    """
    low, high = sorted(steps_of(source, 'error'), key=lambda one: one.line)
    assert low.why == 'is raised by `low` and ends in `high` (shop.py:9).'
    assert high.why == 'is raised by `high` and is handled nowhere here.'


def test_a_method_is_found_by_the_type_of_its_object_and_an_override_by_its_base() -> None:
    source = """
    from typing import Protocol
    class Gone(Exception): ...
    class Source(Protocol):
        def read(self) -> str: ...
    class Disk(Source):
        def read(self) -> str:
            raise Gone
    class Other:
        def read(self) -> str:
            return ''
    def disk(source: Source) -> str:
        return source.read()
    def other(source: Other) -> str:
        return source.read()
    """
    [step] = steps_of(source, 'error')
    assert step.touches == 2
    assert report_of(source).counts.raising == 2


def test_making_an_object_calls_what_makes_it() -> None:
    source = """
    class Port:
        def __init__(self, number: int) -> None:
            if number < 0:
                raise ValueError(number)
    def port(text: str) -> Port:
        return Port(int(text))
    """
    report = report_of(source)
    assert report.counts.raising == 1
    assert [one for one in report.steps if one.kind == 'raise'] == []


@pytest.mark.parametrize(
    'kind', ['AssertionError', 'NotImplementedError', 'SystemExit', 'KeyboardInterrupt']
)
def test_defects_and_signals_are_no_failures(kind: str) -> None:
    assert report_of(f'def stop() -> None:\n    raise {kind}').percent is None


def test_what_python_itself_calls_may_raise_what_python_asks_for() -> None:
    source = """
    class Bag:
        def __getitem__(self, key: str) -> int:
            raise KeyError(key)
    """
    assert report_of(source).counts.fallible == 0


def test_a_lambda_and_an_inner_function_raise_where_they_are_called() -> None:
    source = """
    from collections.abc import Callable
    class Bad(Exception): ...
    def bad() -> int:
        raise Bad
    def later() -> Callable[[], int]:
        return lambda: bad()
    def inner() -> Callable[[], int]:
        def run() -> int:
            return bad()
        return run
    def now() -> int:
        def run() -> int:
            return bad()
        return run()
    """
    [step] = steps_of(source, 'error')
    assert step.touches == 4  # bad, both `run`, now


def test_functions_that_call_each_other_end() -> None:
    source = """
    class Odd(Exception): ...
    def one(left: int) -> None:
        if not left:
            raise Odd
        two(left - 1)
    def two(left: int) -> None:
        one(left)
    """
    [step] = steps_of(source, 'error')
    assert step.touches == 2


RETURNS = """
from returns.future import FutureResult, future_safe
from returns.io import IOResult, impure_safe
from returns.maybe import Maybe
from returns.result import Failure, Result, ResultE, Success, safe


@safe
def port(text: str) -> int:
    if not text:
        raise ValueError(text)
    return int(text)


@safe(exceptions=(OSError,))
def read(path: str) -> str:
    return open(path).read()


@impure_safe
def size(path: str) -> int:
    return len(path)


@future_safe
async def fetch(path: str) -> str:
    return path


def age(text: str) -> Result[int, str]:
    return Success(int(text)) if text.isdecimal() else Failure(text)


def year(text: str) -> ResultE[int]:
    return Success(1)


def guess(text):
    return age(text)


def first(names: list[str]) -> Maybe[str]:
    return Maybe.from_optional(names[0] if names else None)


def stored(path: str) -> IOResult[str, OSError]:
    return IOResult.from_value(path)


def plain(text: str) -> int:
    return port(text).value_or(0)
"""


def test_each_kind_of_container_is_counted() -> None:
    counts = report_of(RETURNS).counts
    assert (counts.functions, counts.safe, counts.results, counts.containers, counts.raising) == (
        10,
        4,
        3,
        2,
        0,
    )
    assert report_of(RETURNS).percent == 0


def test_each_container_is_told_with_its_channel() -> None:
    found = {one.name: (one.kind, one.why) for one in report_of(RETURNS).steps}
    assert found['port'] == (
        'safe',
        'takes in exceptions by a decorator; its channel is `Exception`.',
    )
    assert found['read'] == (
        'safe',
        'takes in exceptions by a decorator; its channel is `OSError`.',
    )
    assert found['age'] == ('result', 'has the channel `str`, which names no tagged error.')
    assert found['first'] == ('container', 'gives `Maybe`, which names no error.')
    assert 'plain' not in found


def test_what_more_functions_call_comes_later() -> None:
    order = [one.name for one in report_of(RETURNS).steps]
    assert order[-2:] == ['port', 'age']
    assert order[0] == 'read'


CHANNELS = """
from collections.abc import Sequence
from typing import TypeVar

from seamwise import Category, Do, Failure, Result, Success, TaggedError, accumulate, attempt, fallible, when

T = TypeVar('T')
E = TypeVar('E')


class NoNumber(TaggedError, category=Category.VALIDATION, message='{text} is no number.'):
    text: str


def number(text: str) -> Result[int, NoNumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NoNumber(text))


def numbers(texts: Sequence[str]) -> Result[tuple[int, ...], tuple[NoNumber, *tuple[NoNumber, ...]]]:
    return accumulate([number(one) for one in texts])


def first(results: Sequence[Result[T, E]]) -> Result[T, E]:
    return results[0]


def certain() -> Success[int]:
    return Success(1)


@fallible
def twice(do: Do[NoNumber], text: str) -> int:
    return do(number(text)) * 2


@attempt(when(ValueError).becomes(lambda raised: NoNumber(str(raised))))
def parsed(text: str) -> int:
    if not text:
        raise ValueError('empty')
    return int(text)


async def later(text: str) -> Result[int, NoNumber]:
    return number(text)


def wide(text: str) -> Result[int, TaggedError]:
    return number(text)


def mixed(text: str) -> Result[int, NoNumber | ValueError]:
    return number(text)
"""


def test_a_channel_names_tagged_errors_and_nothing_else() -> None:
    report = report_of(CHANNELS)
    assert (report.counts.channels, report.counts.results, report.percent) == (7, 2, 77)
    assert [(one.kind, one.name) for one in report.steps] == [
        ('result', 'wide'),
        ('result', 'mixed'),
    ]


def test_what_nobody_here_handles_comes_after_what_ends_here() -> None:
    source = SHOP + 'def check(number: int) -> None:\n    raise ValueError(number)\n'
    assert [(one.name, one.touches) for one in report_of(source).steps] == [
        ('NoOrder', 3),
        ('check', 1),
    ]


def test_a_broad_handler_is_the_last_step() -> None:
    source = SHOP.replace('except ShopError', 'except Exception')
    report = report_of(source)
    assert report.counts.swallowing == 1
    last = report.steps[-1]
    assert (last.kind, last.line, last.name) == ('handler', 27, 'except Exception')


def test_tests_are_left_out() -> None:
    assert (
        report_of('', test_shop='def test_x() -> None:\n    raise ValueError').counts.functions == 0
    )


def test_overloads_of_one_function_are_one() -> None:
    source = """
    from typing import overload
    @overload
    def half(value: int) -> float: ...
    @overload
    def half(value: str) -> str: ...
    def half(value: int | str) -> float | str:
        raise TypeError
    """
    assert report_of(source).counts.functions == 1


def test_a_getter_and_a_setter_of_one_name_are_two() -> None:
    source = """
    class Box:
        @property
        def size(self) -> int:
            return 1
        @size.setter
        def size(self, value: int) -> None:
            raise ValueError(value)
    """
    assert report_of(source).counts.functions == 2
    assert [one.line for one in report_of(source).steps] == [7]


def test_what_cannot_be_read_is_told_and_the_rest_counted(folder: Path) -> None:
    (folder / 'broken.py').write_text('def (', encoding='utf-8')
    (folder / 'shop.py').write_text(SHOP, encoding='utf-8')
    report = adoption(['.'])
    assert (report.counts.functions, report.is_complete, len(report.problems)) == (3, False, 1)


def test_the_text_says_how_far_it_is_and_what_comes_first() -> None:
    assert as_text(report_of(SHOP)).splitlines() == [
        '0 %: 0 of 2 functions that can fail name their errors.',
        '',
        '     3  functions',
        '     0  give a Result with a channel of tagged errors',
        '     0  stand under `@safe` or its like',
        '     0  give another Result: of exceptions, texts, anything',
        '     0  give another container of `returns`',
        '     2  let out an exception that this code raises',
        '     0  handlers swallow defects',
        '',
        'What would change first:',
        '',
        'shop.py:9: `NoOrder` is raised by `Store.find` and ends in `main` (shop.py:27).',
        '    Make it a TaggedError, which `Store.find` would return in a Failure.',
    ]


def test_a_code_base_that_cannot_fail_is_no_share_of_anything() -> None:
    text = as_text(report_of('def one() -> int:\n    return 1'))
    assert text.startswith('No function of 1 raises an exception of its own or gives a Result.\n')
    assert 'What would change first' not in text


def test_a_terminal_shows_ten_steps_and_json_all() -> None:
    report = report_of(
        '\n'.join(f'def f{one}() -> None:\n    raise ValueError' for one in range(12))
    )
    assert as_text(report).endswith('\n\n… and 2 more; --json has all.')
    given = json.loads(as_json(report))
    assert len(given['steps']) == 12
    assert (given['percent'], given['fallible'], given['counts']['raising'], given['files']) == (
        0,
        12,
        12,
        1,
    )
    assert given['steps'][0] == {
        'kind': 'raise',
        'path': 'shop.py',
        'line': 1,
        'name': 'f0',
        'touches': 1,
        'why': 'raises ValueError, which is handled nowhere here.',
        'how': 'Return a Failure of a TaggedError for what is expected; a bug raises AssertionError.',
        'is_handled': False,
    }


def test_many_names_are_shortened() -> None:
    source = 'class Bad(Exception): ...\n' + '\n'.join(
        f'def f{one}() -> None:\n    raise Bad' for one in range(5)
    )
    [step] = steps_of(source, 'error')
    assert step.why == 'is raised by `f0`, `f1`, `f2` and 2 more and is handled nowhere here.'


BRIDGE = """
from seamwise import Category, Failure, Raised, Result, Success, TaggedError, caught, or_raise


class NoNumber(TaggedError, category=Category.VALIDATION, message='{text} is no number.'):
    text: str


def number(text: str) -> Result[int, NoNumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NoNumber(text))


def total(texts: list[str]) -> int:
    return sum(or_raise(number(one)) for one in texts)


def main(texts: list[str]) -> str:
    try:
        return str(total(texts))
    except Raised as raised:
        return str(raised.error)


def twice(text: str) -> Result[int, NoNumber]:
    def run() -> int:
        return or_raise(number(text)) * 2

    return caught(run, NoNumber)
"""


def test_a_bridge_back_to_exceptions_is_no_channel_yet() -> None:
    report = report_of(BRIDGE)
    assert (report.counts.channels, report.counts.raising) == (2, 1)
    [step] = report.steps
    assert (step.kind, step.name, step.why) == (
        'bridge',
        'total',
        'raises Raised, which ends in `main` (shop.py:20).',
    )
    assert step.how.endswith('`@fallible`, and `do` in place of `or_raise`.')
